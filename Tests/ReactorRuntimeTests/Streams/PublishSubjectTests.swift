import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

@Suite struct PublishSubjectTests {
  private struct Failed: Error {}
  private final class Captured: Sendable { let subscription = SystemMutex<(any Disposable)?>(nil) }

  /// Notes the events as an observer receives them.
  private func note(_ subject: some ObservableType<Int>, in record: Record<String>, as name: String = "")
    -> any Disposable
  {
    subject.subscribe(
      onNext: { record.append("\(name)\($0)") }, onError: { _ in record.append("\(name)error") },
      onCompleted: { record.append("\(name)completed") })
  }

  @Test func `observers are called in the order in which they subscribed`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    for name in ["a", "b", "c", "d"] { _ = note(subject, in: record, as: name) }
    subject.onNext(1)
    subject.onNext(2)
    #expect(record.elements == ["a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2"])
  }

  @Test func `the order of observers stays the same when one in the middle leaves`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    let subscriptions = ["a", "b", "c", "d"].map { note(subject, in: record, as: $0) }
    subscriptions[1].dispose()
    subscriptions[1].dispose()
    _ = note(subject, in: record, as: "e")
    subject.onNext(1)
    #expect(record.elements == ["a1", "c1", "d1", "e1"])
  }

  /// Each used to copy or move all others: minutes for so many.
  @Test(.timeLimit(.minutes(1)))
  func `a hundred thousand observers leave in an event or between two without touching the others`() {
    let subject = PublishSubject<Int>()
    let count = 100_000
    let once = Atomic(0)
    let twice = Atomic(0)
    for _ in 0..<count { _ = subject.take(1).subscribe(onNext: { _ in once.add(1, ordering: .relaxed) }) }
    #expect(subject.hasObservers)
    subject.onNext(1)
    #expect(once.load(ordering: .relaxed) == count)
    #expect(!subject.hasObservers)
    let subscriptions = (0..<count).map { _ in
      subject.subscribe(onNext: { _ in twice.add(1, ordering: .relaxed) })
    }
    subject.onNext(2)
    for subscription in subscriptions { subscription.dispose() }
    #expect(!subject.hasObservers)
    subject.onNext(3)
    #expect(once.load(ordering: .relaxed) == count)
    #expect(twice.load(ordering: .relaxed) == count)
  }

  @Test func `observers that come and go in an event take part in the next one`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    let subscriptions = SystemMutex<[any Disposable]>([])
    _ = subject.subscribe(onNext: { [unowned subject] element in
      record.append("a\(element)")
      guard element == 1 else { return }
      let new = subject.subscribe(onNext: { record.append("new\($0)") })
      let short = subject.subscribe(onNext: { record.append("short\($0)") })
      short.dispose()
      short.dispose()
      subscriptions.withLock { $0[0] }.dispose()
      // Queued behind this event.
      subject.onNext(2)
      subscriptions.withLock { $0.append(new) }
    })
    let leaving = note(subject, in: record, as: "b")
    subscriptions.withLock { $0.append(leaving) }
    _ = note(subject, in: record, as: "c")
    subject.onNext(1)
    #expect(record.elements.filter { $0 != "b1" } == ["a1", "c1", "a2", "c2", "new2"])
    subscriptions.withLock { $0[1] }.dispose()
    subject.onNext(3)
    #expect(record.elements.suffix(2) == ["a3", "c3"])
  }

  @Test(arguments: [false, true])
  func `what an observer captured is released when it leaves, and not with the subject`(inEvent: Bool) {
    let subject = PublishSubject<Int>()
    let others = (0..<10).map { _ in subject.subscribe(onNext: { _ in }) }
    weak var weakCaptured: Captured?
    do {
      let captured = Captured()
      weakCaptured = captured
      captured.subscription.withLock {
        $0 = subject.subscribe(onNext: { _ in
          if inEvent { captured.subscription.withLock { $0.take() }?.dispose() }
        })
      }
    }
    #expect(weakCaptured != nil)
    if inEvent {
      subject.onNext(1)
    } else {
      weakCaptured?.subscription.withLock { $0.take() }?.dispose()
    }
    #expect(weakCaptured == nil)
    #expect(subject.hasObservers)
    withExtendedLifetime(others) {}
  }

  @Test func `a late observer receives only later elements`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    subject.onNext(1)
    _ = note(subject, in: record)
    subject.onNext(2)
    #expect(record.elements == ["2"])
  }

  @Test func `nothing is delivered after the end, and a late observer receives the stop event`() {
    let completed = PublishSubject<Int>()
    let failed = PublishSubject<Int>()
    let record = Record<String>()
    _ = note(completed, in: record)
    completed.onNext(1)
    completed.onCompleted()
    completed.onNext(2)
    completed.onError(Failed())
    _ = note(completed, in: record, as: "late ")
    failed.onError(Failed())
    failed.onCompleted()
    _ = note(failed, in: record, as: "failed ")
    #expect(record.elements == ["1", "completed", "late completed", "failed error"])
    #expect(!completed.hasObservers)
  }

  @Test func `an event that an observer brings comes after the running event, for every observer`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    _ = subject.subscribe(onNext: { element in
      if element < 3 { subject.onNext(element + 1) }
      record.append("a\(element)")
    })
    _ = note(subject, in: record, as: "b")
    subject.onNext(1)
    #expect(record.elements == ["a1", "b1", "a2", "b2", "a3", "b3"])
  }

  @Test func `a thread that brings an event during a delivery does not wait, and the event comes after it`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    let isInside = Gate()
    let mayGoOn = Gate()
    _ = subject.subscribe(onNext: { element in
      if element == 1 {
        isInside.open()
        _ = mayGoOn.wait()
      }
      record.append("\(element)")
    })
    let ended = Threads.start { subject.onNext(1) }
    #expect(isInside.wait())
    subject.onNext(2)
    subject.onNext(3)
    #expect(record.elements == [])
    mayGoOn.open()
    #expect(ended.wait())
    #expect(record.elements == ["1", "2", "3"])
  }

  @Test func `an observer that subscribes in a delivery receives only later events`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    let bag = DisposeBag()
    _ = subject.subscribe(onNext: { element in
      // Accepted before the subscription, although delivered after it.
      subject.on(element == 1 ? .next(2) : .completed)
      if element == 1 { bag.insert(note(subject, in: record, as: "inner ")) }
    })
    subject.onNext(1)
    #expect(record.elements == ["inner completed"])
  }

  @Test func `an observer that an earlier observer disposes of does not receive the running event`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    let later = SerialDisposable()
    _ = subject.subscribe(onNext: { _ in later.dispose() })
    later.disposable = note(subject, in: record)
    subject.onNext(1)
    #expect(record.elements == [])
  }

  @Test func `hasObservers tells whether there are observers`() {
    let subject = PublishSubject<Int>()
    #expect(!subject.hasObservers)
    let subscription = subject.subscribe(onNext: { _ in })
    #expect(subject.hasObservers)
    subscription.dispose()
    #expect(!subject.hasObservers)
  }

  @Test func `a disposed subscription releases its observer, although nothing is delivered any more`() {
    let lifetimes = Lifetimes()
    let subject = PublishSubject<Int>()
    let subscription = subject.subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept })
    #expect(lifetimes.alive == 1)
    subscription.dispose()
    #expect(lifetimes.alive == 0)
    withExtendedLifetime((subject, subscription)) {}
  }

  @Test func `the stop event releases the observers, although nobody disposes of their subscriptions`() {
    let lifetimes = Lifetimes()
    let subject = PublishSubject<Int>()
    // Without `subscribe`, whose sink would dispose.
    let subscription = subject.asObservable().run(AnyObserver { [kept = lifetimes.track()] _ in _ = kept })
    #expect(lifetimes.alive == 1)
    subject.onCompleted()
    #expect(lifetimes.alive == 0)
    withExtendedLifetime((subject, subscription)) {}
  }

  @Test func `a subscription retains neither the subject nor, after the subject is destroyed, the observer`()
  {
    let lifetimes = Lifetimes()
    weak var weakSubject: PublishSubject<LifetimeTracked>?
    do {
      let subject = PublishSubject<LifetimeTracked>()
      weakSubject = subject
      _ = subject.subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept })
      subject.onNext(lifetimes.track())
      #expect(lifetimes.alive == 1)
    }
    #expect(weakSubject == nil)
    #expect(lifetimes.alive == 0)
  }

  @Test func `an observer whose destruction calls the subject does not deadlock`() {
    let subject = PublishSubject<Int>()
    let record = Record<String>()
    _ = note(subject, in: record)
    let subscription = SerialDisposable()
    do {
      let speaking = SpeaksAtTheEnd { subject.onNext(7) }
      // Without `subscribe`, so that the subject has the only reference to the observer.
      subscription.disposable = subject.asObservable().run(AnyObserver { _ in _ = speaking })
    }
    let ended = Threads.start { subscription.dispose() }
    #expect(ended.wait())
    #expect(record.elements == ["7"])
  }

  @Test func `a thread that brings too much during a delivery blocks until there is room`() {
    let subject = PublishSubject<Int>()
    let record = Record<Int>()
    let brought = Record<Int>()
    let isInside = Gate()
    let mayGoOn = Gate()
    _ = subject.subscribe(onNext: { element in
      if element == 0 {
        isInside.open()
        _ = mayGoOn.wait()
      }
      record.append(element)
    })
    let delivering = Threads.start { subject.onNext(0) }
    #expect(isInside.wait())
    let bringing = Threads.start {
      for element in 1...2000 {
        subject.onNext(element)
        brought.append(element)
      }
    }
    #expect(Threads.yield { brought.elements.count == 1024 })
    // So that the thread most likely sleeps, and must be woken. The expectations hold either way.
    for _ in 0..<1000 { DedicatedThread.yield() }
    mayGoOn.open()
    #expect(bringing.wait())
    #expect(delivering.wait())
    #expect(record.elements == Array(0...2000))
  }
}

private final class SpeaksAtTheEnd: Sendable {
  private let speak: @Sendable () -> Void

  init(_ speak: @escaping @Sendable () -> Void) { self.speak = speak }

  deinit { speak() }
}
