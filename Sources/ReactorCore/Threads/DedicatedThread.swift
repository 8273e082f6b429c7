import CReactorCore
import Glibc

/// A thread of one's own: started at once, and joined or let go exactly once.
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

  /// Starts a thread that runs `body`. Its name, as the system shows it, is cut to 15 bytes.
  ///
  /// Stops the program if the system gives no thread.
  public init(named name: String, _ body: @escaping @Sendable () -> Void) {
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { argument in
        // Non-null: it is what `passRetained` made above.
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        rr_thread_set_name(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    precondition(failure == 0, "the system gave no thread: \(String(cString: strerror(failure)))")
    self.thread = thread
  }

  deinit { pthread_detach(thread) }

  /// Waits until the thread has ended.
  public consuming func join() {
    let thread = thread
    discard self
    pthread_join(thread, nil)
  }

  /// Lets the thread run on that processor only; false if there is none of that number for this process.
  public borrowing func run(on processor: Int) -> Bool {
    rr_thread_run_on(thread, Int32(clamping: processor))
  }

  /// Whether it is the calling thread.
  public var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// Whether the calling thread, whatever it is, has used more than half of its stack.
  @inlinable
  @inline(__always)
  public static var stackIsLow: Bool { rr_thread_stack_is_low() }

  /// Whether the calling thread is the first one of the process.
  public static var isFirst: Bool { rr_thread_is_first() }

  /// How many processors the calling thread may use.
  public static var processorCount: Int { Int(rr_thread_processor_count()) }

  /// Lets another thread run.
  public static func yield() { sched_yield() }
}

/// What the system's tools call a thread.
public struct ThreadLabel: Sendable, Hashable, CustomStringConvertible {
  /// At most 15 bytes; that of the process where the thread was given none.
  public let name: String
  /// What `ps -L` and the folders in `/proc/self/task` show; the next thread may get it once this one has
  /// ended.
  public let number: Int

  /// The calling thread's.
  public static var current: ThreadLabel {
    let name = rr_thread_get_name().bytes
    let text = withUnsafeBytes(of: name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return ThreadLabel(name: text, number: Int(rr_thread_number()))
  }

  public var description: String { "\(name) (\(number))" }
}
