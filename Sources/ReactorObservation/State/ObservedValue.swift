/// The storage of a property that ``ObservableState()`` tracks: its value, and which change made it.
///
/// Two of them are equal if their values are, so that a state is `Equatable` and `Hashable` as without the macro. It is encoded as
/// its value. But the coding keys of a state are the names of what it stores, `_count` and `_$observationRegistrar`, unless the
/// state has `CodingKeys`.
@frozen
public struct _$ObservedValue<Value> {
  /// The value.
  public var value: Value
  /// The number of the change that made it; 0 for the value that the state was made with.
  public var version: UInt64

  /// Creates the storage of a state that is made.
  ///
  /// - Parameter value: The value.
  @inlinable
  public init(_ value: Value) {
    self.value = value
    version = 0
  }
}

extension _$ObservedValue: Sendable where Value: Sendable {}

extension _$ObservedValue: Equatable where Value: Equatable {
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
}

extension _$ObservedValue: Hashable where Value: Hashable {
  @inlinable
  public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

// A state is printed, compared by the macros of a test, and shown by a debugger as without the macro, but for the underscores.
extension _$ObservedValue: CustomDebugStringConvertible, CustomReflectable {
  public var debugDescription: String { String(reflecting: value) }

  public var customMirror: Mirror { Mirror(reflecting: value) }
}

extension _$ObservedValue: Encodable where Value: Encodable {
  public func encode(to encoder: any Encoder) throws {
    // Not `value.encode(to:)`: an encoder has its own forms for `Data`, `Date` and others, which a container knows.
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension _$ObservedValue: Decodable where Value: Decodable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Value.self))
  }
}

// What the compiler calls for an optional property is not what it calls for others: nil has no key. Without these two, a state
// that was encoded before it got the macro could not be decoded.

extension KeyedEncodingContainer {
  /// Encodes an optional property of a state with ``ObservableState()``, as without the macro: nothing if it is nil.
  ///
  /// - Parameters:
  ///   - value: The property.
  ///   - key: Its key.
  public mutating func encode<Wrapped: Encodable>(_ value: _$ObservedValue<Wrapped?>, forKey key: Key) throws
  {
    try encodeIfPresent(value.value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional property of a state with ``ObservableState()``, as without the macro: nil if there is no key, or null.
  ///
  /// - Parameters:
  ///   - type: The type of the property.
  ///   - key: Its key.
  public func decode<Wrapped: Decodable>(
    _ type: _$ObservedValue<Wrapped?>.Type, forKey key: Key
  ) throws -> _$ObservedValue<Wrapped?> {
    _$ObservedValue(try decodeIfPresent(Wrapped.self, forKey: key))
  }
}
