import Glibc
import ReactorCore

/// Where a reactor expects its actions: ``Reactor/expectedThread``.
public struct ExpectedThread: Sendable {
  /// The thread's name as part of a sentence, such as "the main thread".
  let name: String
  let isCurrent: @Sendable () -> Bool

  /// - Parameters:
  ///   - name: The name used in warnings, as part of a sentence.
  ///   - isCurrent: Returns whether the calling thread is the expected one. Called on any thread.
  public init(_ name: String, isCurrent: @escaping @Sendable () -> Bool) {
    self.name = name
    self.isCurrent = isCurrent
  }

  /// The main thread of the process, and any thread while it runs the main queue or the ``MainLoop``.
  public static let main = ExpectedThread("the main thread") {
    MainScheduler.isCurrent || MainLoop.isCurrent || isFirstThread
  }

  /// The thread of a loop.
  public static func loop(_ loop: Loop) -> ExpectedThread {
    ExpectedThread("its loop's thread") { loop.isCurrent }
  }

  // On Linux the first thread has the number of the process.
  private static var isFirstThread: Bool { ThreadLabel.current.number == Int(getpid()) }
}
