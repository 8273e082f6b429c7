import Foundation

/// A table of values beside objects, with the functions that ReactorKit calls. The package of that name needs Objective-C.
///
/// The value of an object that is gone is released at the next access. The tests of the reactors do not depend on when.
public final class WeakMapTable<Key: AnyObject, Value>: @unchecked Sendable {
  // Unchecked: `entries` is used under the lock only.
  private struct Entry {
    weak var key: Key?
    let value: Value
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private let lock = NSRecursiveLock()

  public init() {}

  public func value(forKey key: Key) -> Value? {
    lock.lock()
    defer { lock.unlock() }
    guard let entry = entries[ObjectIdentifier(key)], entry.key === key else { return nil }
    return entry.value
  }

  public func value(forKey key: Key, default makeValue: @autoclosure () -> Value) -> Value {
    lock.lock()
    defer { lock.unlock() }
    if let value = value(forKey: key) { return value }
    let value = makeValue()
    setValue(value, forKey: key)
    return value
  }

  public func forceCastedValue<T>(forKey key: Key, default makeValue: @autoclosure () -> T) -> T {
    lock.lock()
    defer { lock.unlock() }
    if let value = value(forKey: key) as? T { return value }
    let value = makeValue()
    setValue(value as? Value, forKey: key)
    return value
  }

  public func setValue(_ value: Value?, forKey key: Key) {
    lock.lock()
    defer { lock.unlock() }
    entries = entries.filter { $0.value.key != nil }
    entries[ObjectIdentifier(key)] = value.map { Entry(key: key, value: $0) }
  }
}
