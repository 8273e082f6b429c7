import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

@Suite struct SharingTests {
  private struct Failed: Error {}

  /// A stream that notes its subscriptions and disposals, and that delivers the events of its current
  /// subject.
  private final class Source: Sendable {
    let log = Record<String>()
    let subjects = Record<PublishSubject<Int>>()

    var stream: Observable<Int> {
      .create { [log, subjects] observer in
        log.append("subscribed")
        let subject = PublishSubject<Int>()
        subjects.append(subject)
        let subscription = subject.subscribe(observer)
        return Disposables.create {
          subscription.dispose()
          log.append("disposed")
        }
      }
    }

    var current: PublishSubject<Int> { subjects.elements[subjects.elements.count - 1] }
  }

  private func note(_ stream: Observable<Int>, in record: Record<String>) -> any Disposable {
    stream.subscribe(
      onNext: { record.append("\($0)") }, onError: { _ in record.append("error") },
      onCompleted: { record.append("completed") })
  }

  @Test func `share subscribes with the first observer and disposes with the last`() {
    let source = Source()
    let shared = source.stream.share()
    let (first, second) = (Record<String>(), Record<String>())
    #expect(source.log.elements == [])
    let subscriptions = [note(shared, in: first), note(shared, in: second)]
    #expect(source.log.elements == ["subscribed"])
    source.current.onNext(1)
    subscriptions[0].dispose()
    subscriptions[0].dispose()
    source.current.onNext(2)
    #expect(source.log.elements == ["subscribed"])
    subscriptions[1].dispose()
    #expect(source.log.elements == ["subscribed", "disposed"])
    #expect(first.elements == ["1"])
    #expect(second.elements == ["1", "2"])
  }

  @Test func `share delivers a stream that emits at once to the first observer`() {
    let record = Record<String>()
    _ = note(Observable.of(1, 2, 3).share(), in: record)
    #expect(record.elements == ["1", "2", "3", "completed"])
  }

  @Test func `share while connected subscribes anew for the next observer after the end`() {
    for replay in [0, 1, 2] {
      let source = Source()
      let shared = source.stream.share(replay: replay)
      let (first, second) = (Record<String>(), Record<String>())
      _ = note(shared, in: first)
      source.current.onNext(1)
      source.current.onCompleted()
      _ = note(shared, in: second)
      source.current.onNext(2)
      source.current.onError(Failed())
      #expect(source.log.elements == ["subscribed", "disposed", "subscribed", "disposed"])
      #expect(first.elements == ["1", "completed"])
      #expect(second.elements == ["2", "error"], "replay \(replay)")
    }
  }

  @Test func `share while connected subscribes anew for an observer that subscribes because of the end`() {
    let source = Source()
    let shared = source.stream.share()
    let record = Record<String>()
    _ = shared.subscribe(onCompleted: { _ = note(shared, in: record) })
    source.current.onCompleted()
    source.current.onNext(1)
    #expect(record.elements == ["1"])
    #expect(source.subjects.elements.count == 2)
  }

  @Test func `share with replay delivers the last elements to a further observer first`() {
    for scope in [SubjectLifetimeScope.whileConnected, .forever] {
      let source = Source()
      let shared = source.stream.share(replay: 2, scope: scope)
      _ = note(shared, in: Record())
      let record = Record<String>()
      for element in 1...3 { source.current.onNext(element) }
      _ = note(shared, in: record)
      source.current.onNext(4)
      #expect(record.elements == ["2", "3", "4"])
      #expect(source.log.elements == ["subscribed"])
    }
  }

  @Test func `share while connected keeps nothing from one connection to the next`() {
    let source = Source()
    let shared = source.stream.share(replay: 1)
    note(shared, in: Record()).dispose()
    let record = Record<String>()
    let first = note(shared, in: Record())
    source.current.onNext(1)
    first.dispose()
    _ = note(shared, in: record)
    source.current.onNext(2)
    #expect(record.elements == ["2"])
  }

  @Test func `share forever keeps the last elements from one connection to the next`() {
    let source = Source()
    let shared = source.stream.share(replay: 1, scope: .forever)
    let first = note(shared, in: Record())
    source.current.onNext(1)
    first.dispose()
    let record = Record<String>()
    _ = note(shared, in: record)
    source.current.onNext(2)
    #expect(record.elements == ["1", "2"])
    #expect(source.log.elements == ["subscribed", "disposed", "subscribed"])
  }

  @Test func `share forever delivers the end to all later observers and does not subscribe again`() {
    let source = Source()
    let shared = source.stream.share(replay: 1, scope: .forever)
    _ = note(shared, in: Record())
    source.current.onNext(1)
    source.current.onNext(2)
    source.current.onCompleted()
    let record = Record<String>()
    _ = note(shared, in: record)
    #expect(record.elements == ["2", "completed"])
    #expect(source.log.elements == ["subscribed", "disposed"])
  }

  @Test func `share disposes of a source that has ended, also one that does not do so itself`() {
    let record = Record<String>()
    let source = Observable<Int> { observer in
      observer.on(.completed)
      return Disposables.create { record.append("disposed") }
    }
    source.publish().connect()
    #expect(record.elements == ["disposed"])
  }

  @Test func `the next shared subscription begins when the one before was disposed of`() {
    for replay in [0, 1] {
      let log = Record<String>()
      let (isEnding, mayEnd) = (Gate(), Gate())
      let source = Observable<Int>.create { observer in
        log.append("begin")
        observer.onNext(1)
        return Disposables.create {
          isEnding.open()
          if log.elements.count == 1 { #expect(mayEnd.wait()) }
          log.append("end")
        }
      }
      let shared = source.share(replay: replay)
      let first = shared.subscribe()
      let hasEnded = Threads.start { first.dispose() }
      #expect(isEnding.wait())
      let record = Record<String>()
      let second = note(shared, in: record)
      #expect(log.elements == ["begin"])
      mayEnd.open()
      #expect(hasEnded.wait())
      #expect(log.elements == ["begin", "end", "begin"])
      #expect(record.elements == ["1"])
      second.dispose()
      #expect(log.elements == ["begin", "end", "begin", "end"])
    }
  }

  @Test func `an observer that leaves before its shared subscription begins begins none`() {
    let log = Record<String>()
    let (isEnding, mayEnd) = (Gate(), Gate())
    let source = Observable<Int>.create { _ in
      log.append("begin")
      return Disposables.create {
        isEnding.open()
        #expect(mayEnd.wait())
      }
    }
    let shared = source.share()
    let first = shared.subscribe()
    let hasEnded = Threads.start { first.dispose() }
    #expect(isEnding.wait())
    shared.subscribe().dispose()
    mayEnd.open()
    #expect(hasEnded.wait())
    #expect(log.elements == ["begin"])
    _ = shared.subscribe()
    #expect(log.elements == ["begin", "begin"])
  }

  @Test func `a shared subscription begins after the one that its observers left while it began`() {
    let (log, bag, leaving) = (Record<String>(), DisposeBag(), SerialDisposable())
    let (isEnding, mayEnd) = (Gate(), Gate())
    let box = Shared(Mutex<Observable<Int>?>(nil))
    let source = Observable<Int>.create { _ in
      log.append("begin")
      if log.elements.count == 3 {
        // Its only observer leaves, and another one comes.
        leaving.dispose()
        box.value.withLock { $0 }?.subscribe().disposed(by: bag)
      }
      log.append("begun")
      return Disposables.create {
        isEnding.open()
        #expect(mayEnd.wait())
      }
    }
    let shared = source.share()
    box.value.withLock { $0 = shared }
    let first = shared.subscribe()
    let hasEnded = Threads.start { first.dispose() }
    #expect(isEnding.wait())
    leaving.disposable = shared.subscribe()
    mayEnd.open()
    #expect(hasEnded.wait())
    #expect(log.elements == ["begin", "begun", "begin", "begun", "begin", "begun"])
    // Otherwise the stream retains itself.
    box.value.withLock { $0 = nil }
  }

  @Test func `publish subscribes once, at the connection`() {
    let source = Source()
    let published = source.stream.publish()
    let record = Record<String>()
    _ = note(published.asObservable(), in: record)
    #expect(source.log.elements == [])
    let connection = published.connect()
    published.connect()
    source.current.onNext(1)
    connection.dispose()
    #expect(source.log.elements == ["subscribed", "disposed"])
    #expect(record.elements == ["1"])
    published.connect()
    #expect(source.log.elements == ["subscribed", "disposed", "subscribed"])
  }

  @Test func `replay delivers the last elements to an observer after the connection`() {
    let source = Source()
    let replayed = source.stream.replay(1)
    replayed.connect()
    source.current.onNext(1)
    source.current.onNext(2)
    let record = Record<String>()
    _ = note(replayed.asObservable(), in: record)
    #expect(record.elements == ["2"])
  }

  @Test func `replay keeps nothing of a connection that was ended`() {
    let source = Source()
    let replayed = source.stream.replay(2)
    let connection = replayed.connect()
    source.current.onNext(1)
    connection.dispose()
    let record = Record<String>()
    _ = note(replayed.asObservable(), in: record)
    replayed.connect()
    source.current.onNext(2)
    #expect(record.elements == ["2"])
  }

  @Test func `a replay subject keeps its last elements, also after its end`() {
    for limit in 0...3 {
      let subject = ReplaySubject<Int>.create(bufferSize: limit)
      let early = Record<String>()
      _ = note(subject.asObservable(), in: early)
      for element in 1...5 { subject.onNext(element) }
      subject.onCompleted()
      let record = Record<String>()
      _ = note(subject.asObservable(), in: record)
      #expect(record.elements == (1...5).suffix(limit).map { "\($0)" } + ["completed"])
      #expect(early.elements == ["1", "2", "3", "4", "5", "completed"])
    }
  }

  @Test func `a shared subscription that has ended or was disposed of retains nothing`() {
    let lifetimes = Lifetimes()
    for ends in [true, false] {
      for replay in [0, 1] {
        let subject = PublishSubject<LifetimeTracked>()
        let shared = subject.share(replay: replay)
        let subscription = shared.subscribe(onNext: { [kept = lifetimes.track()] _ in _ = kept })
        subject.onNext(lifetimes.track())
        if ends { subject.onCompleted() }
        subscription.dispose()
        #expect(!subject.hasObservers)
        #expect(lifetimes.alive == 0)
        withExtendedLifetime((subject, shared, subscription)) {}
      }
    }
  }

  @Test(arguments: [0, 1])
  func `share forever does not begin a source again that is ending`(replay: Int) {
    let again = PublishSubject<Void>()
    let subscriptions = Record<Int>()
    let source = PublishSubject<Int>()
    let shared = Observable<Int>.create { observer in
      subscriptions.append(0)
      let subscription = source.subscribe(observer)
      return Disposables.create {
        subscription.dispose()
        again.onNext(())
      }
    }.share(replay: replay, scope: .forever)
    let (first, second) = (Record<String>(), Record<String>())
    _ = again.subscribe(onNext: { [self] in _ = note(shared, in: second) })
    _ = note(shared, in: first)
    source.onNext(1)
    source.onCompleted()
    #expect(first.elements == ["1", "completed"])
    #expect(second.elements == (replay == 0 ? ["completed"] : ["1", "completed"]))
    #expect(subscriptions.elements.count == 1)
    // Also afterwards.
    let third = Record<String>()
    _ = note(shared, in: third)
    #expect(third.elements == second.elements)
    #expect(subscriptions.elements.count == 1)
  }
}
