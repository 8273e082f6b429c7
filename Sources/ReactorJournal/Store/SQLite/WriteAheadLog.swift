import Glibc

/// Looks in SQLite's write-ahead log for commits that SQLite would overlook.
///
/// SQLite reads the log up to the first frame whose checksum is wrong, and takes what is behind it for the rest of a commit that a power
/// cut has interrupted. If the disk has damaged that frame, there are confirmed commits behind it. They differ from such a rest:
///
/// - The checksum of a frame continues that of the frame before it. So of frames that continue one another, the later ones were
///   written after the earlier ones.
/// - The log is made durable in each commit, before the next one is written. So a power cut takes frames of one commit only, the last one,
///   which has one frame that is marked as its end. What an earlier power cut has left further behind does not continue the frames
///   that were written since.
/// - What is left of the log before it began anew has other salts.
///
/// So two marked frames that continue one another, behind one that is wrong, were durable: commits are lost. One such frame may be either.
struct WriteAheadLog {
  static let headerSize = 32
  static let frameHeaderSize = 24

  private let salts: UInt64
  /// Whether the checksums are those of words with the largest byte first.
  private let isBigEndian: Bool
  private let pageSize: Int
  /// The checksum that the next frame continues.
  private var checksum: Checksum
  /// Whether a wrong frame was read. SQLite does not use it, nor what is behind it.
  private(set) var isBehindFault = false
  /// How many marked frames continue one another, behind the first wrong frame.
  private var commitCount = 0
  /// The last one of these, without its checksum.
  private var lastCommit: [UInt8] = []

  /// How many bytes a frame has.
  var frameSize: Int { Self.frameHeaderSize + pageSize }

  /// Whether commits are behind a wrong frame.
  var hasLostCommits: Bool { commitCount >= 2 }

  /// - Parameter header: The first bytes of the file. Nil if they are no header: then SQLite does not use the log, which may be right,
  ///   since a power cut may interrupt the beginning of a new one.
  init?(header: [UInt8]) {
    guard header.count == Self.headerSize else { return nil }
    let magic = header.word(at: 0)
    let size = header.word(at: 8)
    guard magic | 1 == 0x377F_0683, size >= 512, size <= 65536 else { return nil }
    isBigEndian = magic & 1 == 1
    pageSize = Int(size)
    salts = header.pair(at: 16)
    checksum = Checksum()
    checksum.update(header, 0..<24, isBigEndian)
    guard checksum.value == header.pair(at: 24) else { return nil }
  }

  /// Looks at the next frame.
  ///
  /// - Parameter frame: All bytes of it.
  mutating func read(_ frame: [UInt8]) {
    var next = checksum
    next.update(frame, 0..<8, isBigEndian)
    next.update(frame, Self.frameHeaderSize..<frame.count, isBigEndian)
    let stored = frame.pair(at: 16)
    let isRight = frame.pair(at: 8) == salts && next.value == stored && frame.word(at: 0) > 0
    checksum = Checksum(stored)
    if !isRight {
      isBehindFault = true
      commitCount = 0
      lastCommit = []
    } else if isBehindFault, frame.word(at: 4) > 0 {
      // Where a disk does not write sectors one by one, SQLite repeats the last frame of a commit.
      let commit = Array(frame[..<8] + frame[Self.frameHeaderSize...])
      if commit != lastCommit { commitCount += 1 }
      lastCommit = commit
    }
  }

  /// Whether the log in a file has commits behind a wrong frame. O(size of the file).
  ///
  /// What cannot be read is left to SQLite, which reads it again.
  static func hasLostCommits(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return hasLostCommits { bytes, offset in
      bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(offset)) == $0.count }
    }
  }

  /// The same for bytes that a closure reads; it returns false behind the end.
  static func hasLostCommits(_ read: (_ into: inout [UInt8], _ offset: Int) -> Bool) -> Bool {
    var header = [UInt8](repeating: 0, count: headerSize)
    guard read(&header, 0), var log = WriteAheadLog(header: header) else { return false }
    var frame = [UInt8](repeating: 0, count: log.frameSize)
    var offset = headerSize
    while !log.hasLostCommits, read(&frame, offset) {
      log.read(frame)
      offset += frame.count
    }
    return log.hasLostCommits
  }
}

/// The two sums over the words of a log.
private struct Checksum {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

  init(_ value: UInt64) {
    (first, second) = (UInt32(value >> 32), UInt32(truncatingIfNeeded: value))
  }

  var value: UInt64 { UInt64(first) << 32 | UInt64(second) }

  /// Adds words, of which there is an even number.
  mutating func update(_ bytes: [UInt8], _ range: Range<Int>, _ isBigEndian: Bool) {
    var words = RecordDecoder(bytes.span.bytes.extracting(range))
    while let one = try? words.read(UInt32.self), let other = try? words.read(UInt32.self) {
      first &+= (isBigEndian ? one.byteSwapped : one) &+ second
      second &+= (isBigEndian ? other.byteSwapped : other) &+ first
    }
  }
}

extension [UInt8] {
  /// Four bytes, the largest one first.
  fileprivate func word(at offset: Int) -> UInt32 {
    self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Two such words.
  fileprivate func pair(at offset: Int) -> UInt64 {
    UInt64(word(at: offset)) << 32 | UInt64(word(at: offset + 4))
  }
}
