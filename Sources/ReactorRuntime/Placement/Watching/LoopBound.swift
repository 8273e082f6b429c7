import ReactorCore

/// A value that belongs to the thread of a loop, and need not be `Sendable`: the buffers of a connection, a table of what the
/// loop watches. Closures that the loop runs capture it and use it without a lock.
///
/// ```swift
/// let connections = LoopBound([Int32: Connection](), to: loop)
/// try loop.watch(listener, for: .readable) { _, _ in
///   connections.value[accept()] = Connection()
/// }
/// ```
///
/// Each use checks that the calling thread is inside of a turn, a job, a timer or a watch of the loop. It does not keep the
/// loop alive. The thread that releases the last reference destroys the value.
public final class LoopBound<Value>: @unchecked Sendable {
  // Unchecked: `stored` is accessed by the thread inside of the loop's rounds only, one at a time, which `value` checks. The
  // initializer takes a value that nothing else refers to.
  @usableFromInline var stored: Value
  @usableFromInline let loop: LoopState

  /// Makes a value belong to a loop. Any thread.
  public init(_ value: sending Value, to loop: Loop) {
    stored = value
    self.loop = loop.state
  }

  /// The value. Inside of the loop; elsewhere it stops the program, with a message.
  ///
  /// If the value is an object that is not `Sendable`, or contains one, a reference to it must not leave the loop. The compiler does not
  /// check that here; it does with ``withValue(_:)``.
  @inlinable
  public var value: Value {
    _read {
      checkThread()
      yield stored
    }
    _modify {
      checkThread()
      yield &stored
    }
  }

  /// Calls `body` with the value. The compiler refuses a `body` that sends a part of it that is not `Sendable` to another thread.
  /// Inside of the loop; elsewhere it stops the program, with a message.
  ///
  /// ```swift
  /// connections.withValue { $0[descriptor]?.flush() }
  /// ```
  ///
  /// - Parameter body: Changes or reads the value. It must not use this object again.
  /// - Returns: What `body` returns.
  @inlinable
  public func withValue<Result: ~Copyable, E: Error>(
    _ body: (inout sending Value) throws(E) -> sending Result
  ) throws(E) -> sending Result {
    checkThread()
    return try body(&stored)
  }

  @inlinable
  func checkThread() { if !loop.isCurrent { stop() } }

  @usableFromInline
  func stop() -> Never {
    fatalError(
      """
      Problem: a \(Value.self) that belongs to the loop "\(loop.name)" is used elsewhere.
      Likely cause: a closure that captured it runs on another thread, such as the completion of a request.
      Remedy: go to the loop first: loop.execute { … }
      """)
  }
}
