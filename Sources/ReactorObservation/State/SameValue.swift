// Whether an assignment changes nothing, so that it is not announced. The compiler chooses by what it knows of the type. Where
// it knows nothing, each assignment is a change: an announcement too many costs a little, and one too few is an error.

/// Two values of which nothing is known are different.
@inlinable
@_disfavoredOverload
public func _$isSame<Value>(_ left: Value, _ right: Value) -> Bool { false }

/// Equal values are the same.
@inlinable
public func _$isSame<Value: Equatable>(_ left: Value, _ right: Value) -> Bool { left == right }

/// References to one object are the same.
@inlinable
public func _$isSame<Value: AnyObject>(_ left: Value, _ right: Value) -> Bool { left === right }

/// Equal objects are the same.
@inlinable
public func _$isSame<Value: Equatable & AnyObject>(_ left: Value, _ right: Value) -> Bool { left == right }

/// States with one identity are the same, whether or not they can be compared.
@inlinable
public func _$isSame<Value: ObservableState>(_ left: Value, _ right: Value) -> Bool {
  left._$id == right._$id
}

/// States with one identity, and equal ones, are the same.
@inlinable
public func _$isSame<Value: ObservableState & Equatable>(_ left: Value, _ right: Value) -> Bool {
  left._$id == right._$id || left == right
}

/// Optional states with one identity are the same, and so are two that are nil.
@inlinable
public func _$isSame<Value: ObservableState>(_ left: Value?, _ right: Value?) -> Bool {
  left?._$id == right?._$id
}

/// Optional states with one identity, and equal ones, are the same.
@inlinable
public func _$isSame<Value: ObservableState & Equatable>(_ left: Value?, _ right: Value?) -> Bool {
  left?._$id == right?._$id || left == right
}
