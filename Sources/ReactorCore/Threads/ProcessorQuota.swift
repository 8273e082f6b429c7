import Glibc

/// How many processors the control groups of the process let it use: the limit of a container. Control groups of version 2.
enum ProcessorQuota {
  /// The limit, rounded up to whole processors, as it was when first asked for; nil if there is none.
  static let ofProcess = smallest(reading: read)

  /// Returns the limit of the process, as the files of the system say.
  ///
  /// - Parameter file: Returns what the file at a path contains; nil if it cannot be read.
  static func smallest(reading file: (_ path: String) -> String?) -> Int? {
    smallest(of: file("/proc/self/cgroup") ?? "") { file("/sys/fs/cgroup\($0)/cpu.max") }
  }

  /// Returns the smallest limit of a group and of those around it; nil if none has one.
  ///
  /// - Parameters:
  ///   - membership: What `/proc/self/cgroup` contains.
  ///   - limit: Returns what the file `cpu.max` of a group contains; nil if there is no such file.
  static func smallest(of membership: String, limit: (_ group: String) -> String?) -> Int? {
    let prefix = "0::"
    guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix(prefix) }) else {
      return nil
    }
    var group = line.dropFirst(prefix.count)
    var smallest = limit(String(group)).flatMap { processors(in: $0) }
    while let slash = group.lastIndex(of: "/") {
      group = group[..<slash]
      guard let outer = limit(String(group)).flatMap({ processors(in: $0) }) else { continue }
      smallest = min(smallest ?? outer, outer)
    }
    return smallest
  }

  /// Returns the number of processors in a text such as "150000 100000": the time that the group may use, of each period. Nil if
  /// the time is "max".
  private static func processors(in limit: String) -> Int? {
    let numbers = limit.split { $0 == " " || $0 == "\n" }.map { Int($0) ?? 0 }
    guard numbers.count == 2, numbers[0] > 0, numbers[1] > 0 else { return nil }
    return (numbers[0] - 1) / numbers[1] + 1
  }

  /// Returns the text of a small file; nil if it cannot be read.
  static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { return nil }
    defer { close(file) }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while case let count = Glibc.read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
