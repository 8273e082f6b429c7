import CBenchmarkLimits
import Dispatch

/// An actor that holds the state, and one task per producer that awaits each item.
///
/// The honest case is an `await` that really leaves for the actor and comes back, since code that does
/// nothing but call the actor stays there. So each item is followed by a call that the optimiser cannot see
/// through: it belongs to no actor and the task must return for it.
final class ActorBaseline: FanInSubject {
  static let usesPool = true
  /// A task is started per chunk; long ones make that invisible.
  static let chunk = 16_384

  private actor Reducer {
    private var tally: Tally

    init(_ tally: Tally) {
      self.tally = tally
    }

    func reduce(_ item: Item) {
      tally.reduce(item)
    }

    var totals: Totals { tally.totals }
  }

  private let reducer: Reducer

  init(_ setup: SubjectSetup) {
    reducer = Reducer(Tally(inspector: setup.inspector))
  }

  func produce(producer: Int, values: Range<UInt64>) {
    let reducer = reducer
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      for value in values {
        await reducer.reduce(Item(producer: UInt64(producer), value: value))
        bl_opaque()
      }
      done.signal()
    }
    done.wait()
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return Handover.blocking { [reducer] in await reducer.totals }
  }
}
