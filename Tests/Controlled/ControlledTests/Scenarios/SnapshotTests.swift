import ControlledScheduler
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

extension Controlled {
  /// A reactor with several places for its state: readers see whole states that do not change, in order, and no mutation is lost or
  /// applied twice.
  @Suite struct SnapshotTests {
    @Test(arguments: Place.allCases, Slots.allCases)
    private func `readers see whole states while the next one is made`(_ place: Place, _ slots: Slots) {
      explore("two senders and a reader", place, slots) { subject, lifetimes in
        let send = { @Sendable (sender: Int) in
          for number in 0..<2 { subject.send(lifetimes.track(sender * 10 + number)) }
        }
        together({ send(0) }, { send(1) }, { for _ in 0..<3 { subject.look() } })
        subject.verify(senders: 2, actions: 2)
      }
    }

    @Test(arguments: Place.allCases, Slots.allCases)
    private func `readers that stay in two states change nothing for others`(_ place: Place, _ slots: Slots) {
      explore("a sender and two readers", place, slots) { subject, lifetimes in
        together(
          { for number in 0..<4 { subject.send(lifetimes.track(number)) } },
          { for _ in 0..<2 { subject.look() } }, { for _ in 0..<2 { subject.look() } })
        subject.verify(senders: 1, actions: 4)
      }
    }

    @Test(arguments: Place.allCases, Slots.allCases)
    private func `a reactor that is closed while it is read keeps its last state whole`(
      _ place: Place, _ slots: Slots
    ) {
      explore("closing beside a reader", place, slots) { subject, lifetimes in
        together(
          {
            for number in 0..<3 { subject.send(lifetimes.track(number)) }
            subject.close()
          }, { for _ in 0..<3 { subject.look() } })
        check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
        subject.verify(senders: 1, actions: 3)
      }
    }

    /// Otherwise it would stay hidden until the next send.
    @Test func `a state that was deferred is shown when readers have left`() {
      explore("readers in nearly all places, a sender and two more", .caller, .copied) { subject, lifetimes in
        let (held, sent) = (snapshotSlotCount - 1, 2)
        inside(held, of: subject, sending: { lifetimes.track($0) }) {
          // While a reader stays in the state before, there is no place left for the next one.
          together(
            { for number in 0..<sent { subject.send(lifetimes.track(held + number)) } },
            { subject.withCurrentState { _ in ctl_point("reads", nil, ctl_place()) } },
            { subject.withCurrentState { _ in ctl_point("reads", nil, ctl_place()) } })
          let shown = subject.currentState.count
          check(shown == held + sent, "\(shown) of \(held + sent) mutations are shown")
        }
      }
    }

    /// Explores what threads do with a new reactor, which must keep no mutation.
    private func explore(
      _ threads: String, _ place: Place, _ slots: Slots, sourceLocation: SourceLocation = #_sourceLocation,
      _ body: @escaping @Sendable (SlotSubject, Lifetimes) -> Void
    ) {
      ControlledTests.explore("a \(slots) state, \(threads), \(place)", sourceLocation: sourceLocation) {
        let lifetimes = Lifetimes()
        place.use { body(SlotSubject(on: $0, slots), lifetimes) }
        check(lifetimes.alive == 0, "\(lifetimes.alive) mutations are left")
      }
    }

    /// Calls `body` inside of so many reads, each of another state.
    private func inside(
      _ count: Int, of subject: SlotSubject, sending action: (Int) -> LifetimeTracked, _ body: () -> Void
    ) {
      if count == 0 { return body() }
      subject.withCurrentState { state in
        subject.send(action(state.count))
        inside(count - 1, of: subject, sending: action, body)
      }
    }
  }
}

/// How a state has several places.
private enum Slots: CaseIterable {
  case replayed, copied

  var policy: SnapshotPolicy { self == .replayed ? .replayed : .copied }
}

/// A reactor whose mutations are objects, and whose state is the list of their numbers, twice.
private final class SlotSubject: Reactor {
  typealias Action = LifetimeTracked

  struct State: Sendable {
    var numbers: [Int] = []
    var count = 0

    mutating func add(_ number: Int) {
      numbers.append(number)
      ctl_point("changes the state", nil, ctl_place())
      count += 1
    }
  }

  let initialState = State()
  let runtime: Runtime<LifetimeTracked, LifetimeTracked, State>

  init(on placement: Placement, _ slots: Slots) {
    runtime = Runtime(on: placement, snapshots: slots.policy, capacity: 2)
  }

  func reduce(into state: inout State, mutation: LifetimeTracked) { state.add(mutation.value) }

  /// Reads twice, and checks that the state is whole, stays as it is, and is not followed by an older one.
  func look() {
    // As withCurrentState does, which passes a copy in debug builds.
    let pin = runtime.state.raw.pinPublished()
    if pin.slot < 0 { return }
    let place = runtime.state.place(of: pin.slot)
    let seen = place.pointee.numbers
    ctl_point("reads the state", nil, ctl_place())
    check(
      place.pointee.count == seen.count && place.pointee.numbers == seen,
      "\(place.pointee) after \(seen) in the same slot")
    check(!runtime.state.raw.unpin(pin), "a state was deferred, though there are few readers")
    withCurrentState { state in
      check(Array(state.numbers.prefix(seen.count)) == seen, "\(state.numbers) after \(seen)")
    }
  }

  /// All actions of all senders have been reduced once, each sender's in its order.
  func verify(senders: Int, actions: Int) {
    let numbers = currentState.numbers
    check(numbers.count == senders * actions, "\(numbers)")
    for sender in 0..<senders {
      let mine = numbers.filter { $0 / 10 == sender }
      check(mine == (0..<actions).map { sender * 10 + $0 }, "\(numbers)")
    }
  }
}
