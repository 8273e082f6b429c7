import Synchronization

/// Counts the objects that it has made, and those of them that are alive.
public final class Lifetimes: Sendable {
  private let living = Atomic(0)
  private let made = Atomic(0)

  public init() {}

  public var alive: Int { living.load(ordering: .sequentiallyConsistent) }
  public var total: Int { made.load(ordering: .sequentiallyConsistent) }

  public func track(_ value: Int = 0) -> LifetimeTracked { LifetimeTracked(value, by: self) }

  fileprivate func begin() {
    living.add(1, ordering: .sequentiallyConsistent)
    made.add(1, ordering: .sequentiallyConsistent)
  }

  fileprivate func end() { living.subtract(1, ordering: .sequentiallyConsistent) }
}

/// An object whose ``Lifetimes`` notices if it leaks or is destroyed twice.
public final class LifetimeTracked: Sendable {
  public let value: Int
  private let lifetimes: Lifetimes

  public init(_ value: Int, by lifetimes: Lifetimes) {
    self.value = value
    self.lifetimes = lifetimes
    lifetimes.begin()
  }

  deinit { lifetimes.end() }
}
