#if DEBUG
  import ReactorRuntime

  /// Warns that a subscriber or a middleware has no use for what the core has given it. A selector that returned nil is no
  /// mistake: that is how it says that there is nothing to update.
  func reportWrongType(of value: Any, insteadOf expected: Any.Type, to receiver: Any.Type) {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional, mirror.children.isEmpty { return }
    Warning.report(.wrongStateType, receiver) { receiver, _ in
      """
      \(receiver) expects a \(String(reflecting: expected)), but was given a \(String(reflecting: type(of: value))), so \
      it was not called.
      """
    }
  }
#endif
