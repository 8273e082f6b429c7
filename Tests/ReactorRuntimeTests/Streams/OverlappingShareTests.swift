import ReactorRuntime
import TestSupport
import Testing

/// Tests that a shared subscription whose source ends by itself is disposed of before the next one begins.
@Suite struct OverlappingShareTests {
  /// A stream that notes its beginnings and ends, and whose first end takes until the gate is open.
  private final class Source: Sendable {
    let log = Record<String>()
    let observers = Record<AnyObserver<Int>>()
    let (isEnding, mayEnd) = (Gate(), Gate())

    var stream: Observable<Int> {
      .create { [self] observer in
        log.append("begin")
        observers.append(observer)
        return Disposables.create { [self] in
          isEnding.open()
          #expect(mayEnd.wait())
          log.append("end")
        }
      }
    }
  }

  enum Sharing: CaseIterable, Sendable {
    case share, replay

    func share(_ stream: Observable<Int>) -> Observable<Int> {
      switch self {
      case .share: stream.share(replay: 2)
      case .replay: stream.replay(1).refCount()
      }
    }
  }

  @Test(arguments: Sharing.allCases)
  func `the next shared subscription begins when one that ended by itself was disposed of`(sharing: Sharing) {
    let source = Source()
    let shared = sharing.share(source.stream)
    let (first, second) = (Record<Event<Int>>(), Record<Event<Int>>())
    shared.subscribe { first.append($0) }
    source.observers.elements[0].onNext(1)
    let hasEnded = Threads.start { source.observers.elements[0].onCompleted() }
    #expect(source.isEnding.wait())
    let subscription = shared.subscribe { second.append($0) }
    #expect(source.log.elements == ["begin"])
    source.mayEnd.open()
    #expect(hasEnded.wait())
    #expect(source.log.elements == ["begin", "end", "begin"])
    #expect(first.elements.map(\.element) == [1, nil])
    #expect(second.elements.isEmpty)
    subscription.dispose()
    #expect(source.log.elements == ["begin", "end", "begin", "end"])
  }

  @Test(arguments: Sharing.allCases)
  func `an observer that leaves before the next shared subscription begins begins none`(sharing: Sharing) {
    let source = Source()
    let shared = sharing.share(source.stream)
    shared.subscribe()
    let hasEnded = Threads.start { source.observers.elements[0].onCompleted() }
    #expect(source.isEnding.wait())
    shared.subscribe().dispose()
    source.mayEnd.open()
    #expect(hasEnded.wait())
    #expect(source.log.elements == ["begin", "end"])
  }

  @Test(arguments: Sharing.allCases)
  func `an observer that subscribes again because of the end shares with one that waits for it`(
    sharing: Sharing
  ) {
    let source = Source()
    let shared = sharing.share(source.stream)
    let record = Record<Int>()
    shared.subscribe(onCompleted: { shared.subscribe(onNext: { record.append($0) }) })
    let hasEnded = Threads.start { source.observers.elements[0].onCompleted() }
    #expect(source.isEnding.wait())
    let subscription = shared.subscribe(onNext: { record.append($0 + 1) })
    source.mayEnd.open()
    #expect(hasEnded.wait())
    #expect(source.log.elements == ["begin", "end", "begin"])
    source.observers.elements[1].onNext(1)
    #expect(record.elements == [2, 1])
    source.observers.elements[1].onCompleted()
    subscription.dispose()
  }
}
