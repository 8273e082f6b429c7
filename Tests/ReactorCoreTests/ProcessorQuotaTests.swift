import Foundation
import Testing

@testable import ReactorCore

/// The limit that control groups put on the number of processors.
@Suite struct ProcessorQuotaTests {
  /// Returns the limit of a group, if the files `cpu.max` are these.
  private func quota(of membership: String, _ limits: [String: String]) -> Int? {
    ProcessorQuota.smallest(of: membership) { limits[$0] }
  }

  @Test(
    arguments: [
      ("max 100000\n", nil), ("100000 100000\n", 1), ("150000 100000\n", 2), ("200000 100000\n", 2),
      ("1 100000\n", 1),
      ("200001 100000", 3), ("", nil), ("100000\n", nil), ("0 100000\n", nil), ("100000 0\n", nil),
      ("\(Int.max) 1\n", Int.max),
    ] as [(text: String, processors: Int?)])
  func `a limit is rounded up to whole processors`(_ limit: (text: String, processors: Int?)) {
    #expect(quota(of: "0::/\n", ["/": limit.text]) == limit.processors)
  }

  @Test func `the smallest limit of a group and of those around it counts`() {
    let membership = "4:memory:/other\n0::/a/b/c\n"
    #expect(quota(of: membership, [:]) == nil)
    #expect(quota(of: membership, ["/a/b/c": "300000 100000", "/a": "200000 100000"]) == 2)
    #expect(quota(of: membership, ["/a/b/c": "300000 100000", "/a": "400000 100000"]) == 3)
    #expect(quota(of: membership, ["/a/b": "max 100000", "": "500000 100000"]) == 5)
    // That of another group.
    #expect(quota(of: membership, ["/other": "100000 100000"]) == nil)
  }

  @Test(arguments: ["", "0::", "4:cpu:/a\n", "nonsense"])
  func `a process without groups of version 2 has no limit`(_ membership: String) {
    #expect(quota(of: membership, ["/a": "100000 100000"]) == nil)
  }

  @Test func `the limits are read from the files of the system`() {
    let files = [
      "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
      "/sys/fs/cgroup/a/cpu.max": "300000 100000\n", "/sys/fs/cgroup/cpu.max": "500000 100000\n",
    ]
    #expect(ProcessorQuota.smallest { files[$0] } == 3)
    #expect(ProcessorQuota.smallest { _ in nil } == nil)
  }

  @Test func `a file is read to its end, also if its size is unknown`() throws {
    let path = "/proc/self/maps"
    let text = try #require(ProcessorQuota.read(path))
    // More than is read at a time.
    #expect(text.utf8.count > 4096)
    #expect(text.hasSuffix("\n"))
    #expect(ProcessorQuota.read("/proc/self/there-is-no-such-file") == nil)
  }

  @Test func `a process may use as many processors as its groups allow`() {
    let limit = ProcessorQuota.smallest { try? String(contentsOfFile: $0, encoding: .utf8) }
    #expect(ProcessorQuota.ofProcess == limit)
    #expect(DedicatedThread.processorCount >= 1)
    #expect(DedicatedThread.processorCount <= limit ?? .max)
  }
}
