import Glibc
import ReactorCore

/// Where a reactor expects its actions: ``Reactor/expectedThread``.
public struct ExpectedThread: Sendable {
  /// As part of a sentence: "the main thread".
  let name: String
  let isCurrent: @Sendable () -> Bool

  /// - Parameters:
  ///   - name: What it is called in a warning, as part of a sentence.
  ///   - isCurrent: Whether the calling thread is there.
  public init(_ name: String, isCurrent: @escaping @Sendable () -> Bool) {
    self.name = name
    self.isCurrent = isCurrent
  }

  /// The main thread of the process, and whatever thread runs its main queue or the ``MainLoop``.
  public static let main = ExpectedThread("the main thread") {
    MainScheduler.isCurrent || MainLoop.isCurrent || isFirstThread
  }

  /// The thread of a loop.
  public static func loop(_ loop: Loop) -> ExpectedThread {
    ExpectedThread("its loop's thread") { loop.isCurrent }
  }

  // The process has the number of its first thread.
  private static var isFirstThread: Bool { ThreadLabel.current.number == Int(getpid()) }
}
