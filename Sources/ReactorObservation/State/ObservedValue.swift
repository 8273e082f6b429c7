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

extension _$ObservedValue: Encodable where Value: Encodable {
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension _$ObservedValue: Decodable where Value: Decodable {
  public init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }
}
