import ReactorRuntime
import TestSupport
import Testing

/// Tests of when a view is bound, and of the lifetimes of its bag and its reactor.
@Suite struct ReactorViewTests {
  final class Tally: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>(capacity: 16)
    let own: LifetimeTracked?
    init(_ own: LifetimeTracked? = nil) { self.own = own }
    func reduce(into state: inout Int, mutation: Int) {}
  }

  final class View: ReactorView {
    var disposeBag = DisposeBag()
    var bound: [ObjectIdentifier] = []
    var onBind: (View, Tally) -> Void = { _, _ in }
    func bind(reactor: Tally) {
      bound.append(ObjectIdentifier(reactor))
      onBind(self, reactor)
    }
  }

  final class DeferredView: DeferredReactorView {
    var disposeBag = DisposeBag()
    var bound: [ObjectIdentifier] = []
    var onBind: (DeferredView) -> Void = { _ in }
    func bind(reactor: Tally) {
      bound.append(ObjectIdentifier(reactor))
      onBind(self)
    }
  }

  @MainActor final class Screen: @MainActor ReactorView {
    var disposeBag = DisposeBag()
    var bound = 0
    func bind(reactor: Tally) { bound += 1 }
  }

  @MainActor final class DeferredScreen: @MainActor DeferredReactorView {
    var disposeBag = DisposeBag()
    var bound = 0
    func bind(reactor: Tally) { bound += 1 }
  }

  let lifetimes = Lifetimes()

  @Test func `setting a reactor binds it`() {
    let view = View()
    #expect(view.reactor == nil)
    let reactors = [Tally(), Tally()]
    view.reactor = reactors[0]
    #expect(view.reactor === reactors[0])
    view.reactor = reactors[1]
    #expect(view.reactor === reactors[1])
    view.reactor = reactors[1]
    #expect(view.bound == [0, 1, 1].map { ObjectIdentifier(reactors[$0]) })
  }

  @Test func `setting the same, another or no reactor replaces the bag`() {
    let view = View()
    let reactor = Tally()
    for (count, next) in [reactor, reactor, Tally(), nil, nil].enumerated() {
      let ended = lifetimes.track()
      let old = ObjectIdentifier(view.disposeBag)
      view.disposeBag.insert(Disposables.create { withExtendedLifetime(ended) { _ = lifetimes.track() } })
      view.reactor = next
      #expect(ObjectIdentifier(view.disposeBag) != old)
      // The disposal of the old bag has tracked one more object.
      #expect(lifetimes.total == 2 * (count + 1))
    }
  }

  @Test func `in bind, the reactor is set and the bag is the final one`() {
    let view = View()
    let seen = Record<Bool>()
    view.onBind = { view, reactor in
      seen.append(view.reactor === reactor)
      view.disposeBag.insert(Disposables.create { seen.append(false) })
    }
    view.reactor = Tally()
    #expect(seen.elements == [true])
    view.reactor = nil
    #expect(seen.elements == [true, false])
  }

  @Test func `setting nil does not call bind`() {
    let view = View()
    view.reactor = Tally(lifetimes.track())
    #expect(lifetimes.alive == 1)
    view.reactor = nil
    #expect(view.reactor == nil)
    #expect(view.bound.count == 1)
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `each view has its own reactor`() {
    let views = (0..<20).map { _ in View() }
    let reactors = views.map { _ in Tally() }
    for (view, reactor) in zip(views, reactors) { view.reactor = reactor }
    #expect(zip(views, reactors).allSatisfy { $0.reactor === $1 })
  }

  @Test func `a reactor is freed at once with its view`() {
    var remained = 0
    for _ in 0..<100 {
      do {
        let view = View()
        view.reactor = Tally(lifetimes.track())
        #expect(lifetimes.alive > 0)
      }
      remained += lifetimes.alive
    }
    // A background sweep may retain one for a moment.
    #expect(remained < 50)
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  /// If the old reactor were released under a mutex, its deinit would block its thread forever.
  @Test func `the deinit of a view's old reactor may use the view`() {
    final class Owner: Sendable {
      let ended: @Sendable () -> Void
      init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
      deinit { ended() }
    }
    final class Holder: ReactorKitReactor {
      typealias Action = Int
      let initialState = 0
      let owner: Owner
      init(_ owner: Owner) { self.owner = owner }
    }
    final class HolderView: ReactorView {
      var disposeBag = DisposeBag()
      func bind(reactor: Holder) {}
    }
    let seen = Record<Bool>()
    let isDone = Threads.start {
      nonisolated(unsafe) let view = HolderView()
      let next = Holder(Owner {})
      view.reactor = Holder(Owner { seen.append(view.reactor === next) })
      view.reactor = next
    }
    #expect(isDone.wait())
    #expect(seen.elements == [true])
  }

  @Test func `a reactor is freed soon if its view replaced the bag`() {
    do {
      let view = View()
      view.reactor = Tally(lifetimes.track())
      view.disposeBag = DisposeBag()
      #expect(view.reactor != nil)
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `a reactor that is set inside of bind replaces the one being bound`() {
    let view = View()
    let (first, second) = (Tally(), Tally())
    view.onBind = { view, reactor in if reactor === first { view.reactor = second } }
    view.reactor = first
    #expect(view.reactor === second)
    #expect(view.bound == [ObjectIdentifier(first), ObjectIdentifier(second)])
  }

  // MARK: Deferred views

  @Test func `a deferred view is bound when it is ready`() {
    let view = DeferredView()
    let (first, second, third) = (Tally(), Tally(), Tally())
    view.reactor = first
    view.reactor = second
    #expect(view.reactor === second)
    #expect(view.bound.isEmpty)
    view.performBinding()
    #expect(view.bound == [ObjectIdentifier(second)])
    view.performBinding()
    #expect(view.bound.count == 1)
    view.reactor = third
    #expect(view.bound == [ObjectIdentifier(second), ObjectIdentifier(third)])
  }

  @Test func `a deferred view may be ready before it has a reactor`() {
    let view = DeferredView()
    view.performBinding()
    #expect(view.reactor == nil)
    let reactor = Tally()
    view.reactor = reactor
    view.reactor = nil
    #expect(view.reactor == nil)
    view.reactor = reactor
    #expect(view.bound.count == 2)
  }

  @Test func `setting the reactor of a deferred view replaces the bag each time`() {
    let view = DeferredView()
    for next in [Tally(), nil, Tally()] {
      let old = ObjectIdentifier(view.disposeBag)
      view.reactor = next
      #expect(ObjectIdentifier(view.disposeBag) != old)
    }
  }

  @Test func `a deferred view that calls performBinding inside of bind is bound once`() {
    let view = DeferredView()
    view.onBind = { $0.performBinding() }
    view.reactor = Tally()
    view.performBinding()
    #expect(view.bound.count == 1)
  }

  @Test func `a deferred view that is never ready is freed with its reactor`() {
    for isReady in [false, true] {
      do {
        let view = DeferredView()
        if isReady { view.performBinding() }
        view.reactor = Tally(lifetimes.track())
        #expect(lifetimes.alive == 1)
      }
      #expect(Threads.yield { lifetimes.alive == 0 })
    }
  }

  // MARK: Views on an actor

  @MainActor @Test func `a view may be isolated to the main actor`() {
    let screen = Screen()
    screen.reactor = Tally()
    screen.reactor = Tally()
    #expect(screen.bound == 2)
    let deferred = DeferredScreen()
    deferred.reactor = Tally()
    #expect(deferred.bound == 0)
    deferred.performBinding()
    #expect(deferred.bound == 1)
  }
}
