import CReactorCore
import Glibc

/// Dispatch's main queue, for a loop on the first thread that watches and runs it.
public enum MainQueue {
  /// A descriptor that is readable while the queue is not empty; nil if this version of Dispatch does not have one. Any
  /// thread.
  public static var descriptor: Int32? {
    let descriptor = rr_main_queue_descriptor()
    return descriptor < 0 ? nil : descriptor
  }

  /// Whether the queue was not empty a moment ago; false if it has no descriptor. Any thread.
  public static var isReady: Bool {
    guard let descriptor else { return false }
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var count: Int32
    repeat { count = poll(&watched, 1, 0) } while count < 0 && errno == EINTR
    return count > 0
  }

  /// Runs what is in the queue, but not what that enqueues; nothing inside of the queue. The first thread.
  public static func run() { rr_main_queue_run() }

  /// Makes the descriptor readable again, after ``run()`` inside of the queue, which ran nothing. The first thread.
  public static func signal() { if let descriptor { rr_event_signal(descriptor) } }
}

/// The standard error of the process.
public enum StandardError {
  /// Writes a text with one system call, so that the texts of two threads are not mixed; with several if the system takes only a part, or
  /// a signal comes. Any thread. It waits for a reader that is slow; what fails is left out.
  public static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}

/// Signals that one thread reads from a descriptor, instead of being interrupted by them.
///
/// Threads that started before pass on the signals that are delivered to them. ``restore()`` restores the handlers and
/// the mask of the thread. Threads and programs that this thread starts meanwhile inherit the blocked signals and keep them,
/// so it should be a thread that does nothing else. There may be one instance at a time in a process.
public struct CaughtSignals: ~Copyable {
  private let signals: OpaquePointer

  /// Catches the signals with these numbers. Any thread; it makes all other calls, too.
  ///
  /// - Throws: ``CoreError/signalIsInvalid``, ``CoreError/noDescriptor``, or ``CoreError/outOfMemory``.
  public init(_ numbers: [Int32]) throws(CoreError) {
    guard let signals = rr_signals_catch(numbers, Int32(numbers.count)) else {
      switch errno {
      case EINVAL: throw .signalIsInvalid
      case ENOMEM: throw .outOfMemory
      default: throw .noDescriptor
      }
    }
    self.signals = signals
  }

  /// A descriptor that is readable while a signal waits; nil if no numbers were given.
  public var descriptor: Int32? {
    let descriptor = rr_signals_descriptor(signals)
    return descriptor < 0 ? nil : descriptor
  }

  /// Returns the number of the next signal that waits, or nil. The same thread.
  public func take() -> Int32? {
    let number = rr_signals_take(signals)
    return number == 0 ? nil : number
  }

  /// Restores the handlers and the mask. A signal that still waits has its usual effect now. The same thread.
  public consuming func restore() {
    let signals = signals
    discard self
    rr_signals_restore(signals)
  }

  deinit { rr_signals_restore(signals) }
}
