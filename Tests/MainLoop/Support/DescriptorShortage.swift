import Glibc

/// A process that has no free descriptor.
public struct DescriptorShortage {
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  private var before = rlimit()
  private var taken: [Int32] = []

  public init() {
    getrlimit(Self.resource, &before)
    var limit = before
    limit.rlim_cur = 64
    setrlimit(Self.resource, &limit)
    while case let copy = dup(2), copy >= 0 { taken.append(copy) }
  }

  /// Frees one.
  public mutating func free() { close(taken.removeLast()) }

  public mutating func end() {
    for descriptor in taken { close(descriptor) }
    setrlimit(Self.resource, &before)
  }
}
