import CReactorCore

/// Signals that the first thread of the process reads, instead of being interrupted by them.
///
/// Other threads may have been started before; what comes to them is passed on. Handlers and masks are as
/// before once ``restore()`` was called. One at a time in the process.
public struct CaughtSignals: ~Copyable {
  private let signals: OpaquePointer

  /// The first thread.
  ///
  /// - Throws: ``CoreError/signalIsInvalid`` for a number that cannot be caught; also if the system has no
  ///   descriptor left.
  public init(_ numbers: [Int32]) throws(CoreError) {
    guard let signals = rr_signals_catch(numbers, Int32(numbers.count)) else { throw .signalIsInvalid }
    self.signals = signals
  }

  /// Readable when one of them came; nil if none was named.
  public var descriptor: Int32? {
    let descriptor = rr_signals_descriptor(signals)
    return descriptor < 0 ? nil : descriptor
  }

  /// The next one that came. The first thread.
  public func take() -> Int32? {
    let number = rr_signals_take(signals)
    return number == 0 ? nil : number
  }

  /// The first thread. A signal that came and was not taken has its usual effect now.
  public consuming func restore() {
    let signals = signals
    discard self
    rr_signals_restore(signals)
  }

  deinit { rr_signals_restore(signals) }
}
