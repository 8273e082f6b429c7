import Glibc

/// The memory that the process uses.
enum ResidentMemory {
  /// The resident bytes as the system counts them, after the allocator has returned unused memory.
  static func bytes() -> Int {
    // The function is not in Swift's module of the C library. An allocator without it keeps its unused memory.
    typealias Trim = @convention(c) (Int) -> Int32
    if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
    let file = open("/proc/self/statm", O_RDONLY)
    precondition(file >= 0, "/proc/self/statm cannot be opened")
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 256)
    let length = read(file, &text, text.count)
    let fields = String(decoding: text.prefix(max(0, length)), as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { preconditionFailure("statm has another form") }
    return pages * Int(getpagesize())
  }
}
