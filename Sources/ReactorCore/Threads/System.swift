import CReactorCore
import Glibc

/// Dispatch's main queue, as something that a loop on the first thread can watch and run.
public enum MainQueue {
  /// Readable when something waits in the queue; nil if this Dispatch does not offer it. Any thread.
  public static var descriptor: Int32? {
    let descriptor = rr_main_queue_descriptor()
    return descriptor < 0 ? nil : descriptor
  }

  /// Runs what waits. The first thread, and not from inside the queue.
  public static func run() { rr_main_queue_run() }
}

/// The standard error of the process.
public enum StandardError {
  /// Writes a text in one call, so that two threads' texts do not mix.
  public static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

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
