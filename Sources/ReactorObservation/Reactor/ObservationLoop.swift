import Dispatch
import ReactorRuntime

/// Where an ``ObservedReactor`` shows new states, and where a ``ReactorObserving`` runs.
public struct ObservationLoop: Sendable {
  /// Whether the calling thread is there.
  let isCurrent: @Sendable () -> Bool
  private let tryExecute: @Sendable (@escaping @Sendable () -> Void) throws -> Void

  /// The main loop, and whatever else runs on Dispatch's main queue: the main actor.
  public static let main = ObservationLoop(
    isCurrent: { MainLoop.isCurrent || DispatchQueue.getSpecific(key: mainQueueMark) == true },
    tryExecute: { try MainLoop.execute($0) })

  /// A loop with a thread.
  ///
  /// - Parameter loop: The loop. Once it is shut down, nothing is shown any more.
  public static func loop(_ loop: Loop) -> ObservationLoop {
    ObservationLoop(isCurrent: { loop.isCurrent }, tryExecute: { try loop.execute($0) })
  }

  private static let mainQueueMark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Runs `job` there, after what its thread is doing now. Any thread.
  ///
  /// A loop that is full refuses the job for now, which must not be lost: it is submitted again a moment later.
  ///
  /// - Parameters:
  ///   - hasEnded: Called instead if the loop has ended, on any thread.
  ///   - job: The job.
  func execute(ifEnded hasEnded: @escaping @Sendable () -> Void = {}, _ job: @escaping @Sendable () -> Void) {
    do {
      try tryExecute(job)
    } catch LoopError.full {
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) {
        execute(ifEnded: hasEnded, job)
      }
    } catch {
      hasEnded()
    }
  }
}
