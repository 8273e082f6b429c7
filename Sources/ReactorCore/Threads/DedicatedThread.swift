import CReactorCore
import Glibc

/// A thread that starts at once and is either joined or detached, exactly once. Destroying the value detaches it.
///
/// It may run on the same processors as the thread that starts it; but if ``run(on:)`` has bound that to one, on those that the first
/// thread of the process had before.
public struct DedicatedThread: ~Copyable, Sendable {
  private let thread: pthread_t

  private final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a thread that runs `body`. The system cuts its name to 15 bytes.
  ///
  /// Stops the program if the system refuses a thread.
  public init(named name: String, _ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let failure = Self.create(&thread, named: name, body)
    guard failure == 0 else { fatalError("the system gave no thread: \(String(cString: strerror(failure)))") }
    self.thread = thread
  }

  /// Starts a detached thread that runs `body`; returns false if the system refuses a thread.
  public static func tryDetach(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    guard create(&thread, named: name, body) == 0 else { return false }
    pthread_detach(thread)
    return true
  }

  private static func create(
    _ thread: inout pthread_t, named name: String, _ body: @escaping @Sendable () -> Void
  ) -> Int32 {
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    let failure = rr_thread_create(
      &thread,
      { argument in
        // Not nil: `passRetained` returned it above.
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        rr_thread_set_name(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    if failure != 0 { start.release() }
    return failure
  }

  deinit { pthread_detach(thread) }

  /// Waits until the thread has ended. Any other thread.
  public consuming func join() {
    let thread = thread
    discard self
    pthread_join(thread, nil)
  }

  /// Binds the thread to one processor. Threads that other code starts on it inherit that; a ``DedicatedThread`` does not.
  ///
  /// - Returns: False if there is no such processor, or if the process may not use it.
  public borrowing func run(on processor: Int) -> Bool {
    rr_thread_run_on(thread, Int32(clamping: processor))
  }

  /// Whether the calling thread is this one.
  public var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// Whether the calling thread is the first thread of the process.
  public static var isFirst: Bool { rr_thread_is_first() }

  /// How many processors a thread that the calling one starts may use. Not more than the limit of the process's control group (of
  /// version 2), rounded up: that of a container. Any thread.
  public static var processorCount: Int {
    min(Int(rr_thread_processor_count()), ProcessorQuota.ofProcess ?? .max)
  }

  /// Lets another thread run on the calling thread's processor.
  public static func yield() { sched_yield() }

  /// Lets other threads run for about 50 µs, also those of a lower priority.
  static func sleepMoment() { usleep(50) }
}

/// The name and number of a thread in the system's tools.
public struct ThreadLabel: Sendable, Hashable, CustomStringConvertible {
  /// The name, at most 15 bytes. The name of the process if the thread was given none.
  public let name: String
  /// The number in `ps -L` and in `/proc/self/task`. Another thread may get it once this one has ended.
  public let number: Int

  /// The label of the calling thread.
  public static var current: ThreadLabel {
    let name = rr_thread_get_name().bytes
    let text = withUnsafeBytes(of: name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return ThreadLabel(name: text, number: Int(rr_thread_number()))
  }

  public var description: String { "\(name) (\(number))" }
}
