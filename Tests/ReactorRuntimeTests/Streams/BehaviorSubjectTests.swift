import ReactorRuntime
import TestSupport
import Testing

@Suite struct BehaviorSubjectTests {
  private struct Failed: Error {}

  private func note(_ subject: some ObservableType<Int>, in record: Record<Int>) -> any Disposable {
    subject.subscribe(onNext: { record.append($0) })
  }

  @Test
  func `a new observer receives the value before the subscription returns, and then each later element`() {
    let subject = BehaviorSubject(value: 1)
    let record = Record<Int>()
    _ = note(subject, in: record)
    #expect(record.elements == [1])
    subject.onNext(2)
    subject.onNext(2)
    let late = Record<Int>()
    _ = note(subject, in: late)
    subject.onNext(3)
    #expect(record.elements == [1, 2, 2, 3])
    #expect(late.elements == [2, 3])
  }

  @Test func `the value is the last element, also after the completion, or the failure is thrown`() throws {
    let subject = BehaviorSubject(value: 1)
    #expect(try subject.value() == 1)
    subject.onNext(2)
    #expect(try subject.value() == 2)
    subject.onCompleted()
    subject.onNext(3)
    #expect(try subject.value() == 2)
    let failing = BehaviorSubject(value: 1)
    failing.onError(Failed())
    #expect(throws: Failed.self) { try failing.value() }
  }

  @Test func `an observer after the end receives only the stop event`() {
    let subject = BehaviorSubject(value: 1)
    subject.onCompleted()
    let record = Record<String>()
    _ = subject.subscribe(onNext: { record.append("\($0)") }, onCompleted: { record.append("completed") })
    #expect(record.elements == ["completed"])
  }

  @Test func `the value is set before observers are called, also by an observer`() throws {
    let subject = BehaviorSubject(value: 0)
    let record = Record<Int>()
    _ = subject.subscribe(onNext: { element in
      record.append((try? subject.value()) ?? -1)
      if element == 1 {
        subject.onNext(2)
        record.append((try? subject.value()) ?? -1)
      }
    })
    subject.onNext(1)
    #expect(record.elements == [0, 1, 2, 2])
  }

  @Test
  func `an observer that subscribes in a delivery receives the newest value at once, and nothing twice`() {
    let subject = BehaviorSubject(value: 0)
    let outer = Record<Int>()
    let inner = Record<Int>()
    let bag = DisposeBag()
    _ = subject.subscribe(onNext: { element in
      outer.append(element)
      guard element == 1 else { return }
      subject.onNext(2)
      bag.insert(note(subject, in: inner))
      #expect(inner.elements == [2])
      subject.onNext(3)
    })
    subject.onNext(1)
    #expect(outer.elements == [0, 1, 2, 3])
    #expect(inner.elements == [2, 3])
  }

  @Test func `an element brought while an observer receives the value comes after it`() {
    let subject = BehaviorSubject(value: 0)
    let other = Record<Int>()
    _ = note(subject, in: other)
    let record = Record<Int>()
    _ = subject.subscribe(onNext: { element in
      if element == 0 { subject.onNext(1) }
      record.append(element)
    })
    #expect(record.elements == [0, 1])
    #expect(other.elements == [0, 1])
  }

  /// A subject whose delivery of the element 1, on another thread, is stopped in the middle.
  private final class Stopped: Sendable {
    let subject = BehaviorSubject(value: 0)
    let mayGoOn = Gate()
    private let ended: Gate

    init() {
      let isInside = Gate()
      _ = subject.subscribe(onNext: { [mayGoOn] element in
        guard element == 1 else { return }
        isInside.open()
        _ = mayGoOn.wait()
      })
      ended = Threads.start { [subject] in subject.onNext(1) }
      #expect(isInside.wait())
    }

    func goOn() {
      mayGoOn.open()
      #expect(ended.wait())
    }
  }

  @Test func `a subscription while another thread delivers does not wait, and receives nothing twice`() {
    let stopped = Stopped()
    let record = Record<Int>()
    stopped.subject.onNext(2)
    _ = note(stopped.subject, in: record)
    #expect(record.elements == [2])
    stopped.subject.onNext(3)
    stopped.goOn()
    #expect(record.elements == [2, 3])
    stopped.subject.onNext(4)
    #expect(record.elements == [2, 3, 4])
  }

  @Test func `an observer that is receiving the value receives nothing else meanwhile`() {
    let stopped = Stopped()
    let record = Record<String>()
    let isReplaying = Gate()
    let mayReplay = Gate()
    let subscribing = Threads.start {
      _ = stopped.subject.subscribe(onNext: { element in
        record.append("begin \(element)")
        if element == 1 {
          isReplaying.open()
          _ = mayReplay.wait()
        }
        record.append("end \(element)")
      })
    }
    #expect(isReplaying.wait())
    stopped.goOn()
    // On this thread, because no other thread delivers now.
    stopped.subject.onNext(2)
    #expect(record.elements == ["begin 1"])
    mayReplay.open()
    #expect(subscribing.wait())
    #expect(record.elements == ["begin 1", "end 1", "begin 2", "end 2"])
  }

  @Test
  func `a subscription made while another thread delivers can be disposed of, and then retains nothing`() {
    let lifetimes = Lifetimes()
    let stopped = Stopped()
    let record = Record<Int>()
    let subscription = stopped.subject.subscribe(onNext: { [kept = lifetimes.track()] element in
      record.append(element + kept.value)
    })
    subscription.dispose()
    #expect(lifetimes.alive == 0)
    stopped.goOn()
    stopped.subject.onNext(2)
    #expect(record.elements == [1])
  }

  @Test func `a subscription made while another thread delivers is released with the subject`() {
    let lifetimes = Lifetimes()
    do {
      let stopped = Stopped()
      _ = stopped.subject.subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept })
      stopped.goOn()
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `an element whose destruction calls the subject does not deadlock`() throws {
    final class Element: Sendable {
      let number: Int
      let atTheEnd: @Sendable () -> Void

      init(_ number: Int, atTheEnd: @escaping @Sendable () -> Void = {}) {
        self.number = number
        self.atTheEnd = atTheEnd
      }

      deinit { atTheEnd() }
    }
    let subject = BehaviorSubject(value: Element(0))
    subject.onNext(Element(1, atTheEnd: { [weak subject] in subject?.onNext(Element(3)) }))
    let ended = Threads.start { subject.onNext(Element(2)) }
    #expect(ended.wait())
    #expect(try subject.value().number == 3)
  }

  @Test func `replaced elements are released`() {
    let lifetimes = Lifetimes()
    let subject = BehaviorSubject(value: lifetimes.track())
    for _ in 0..<10 { subject.onNext(lifetimes.track()) }
    #expect(lifetimes.alive == 1)
    withExtendedLifetime(subject) {}
  }
}
