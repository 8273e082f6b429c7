import CReactorCore

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
