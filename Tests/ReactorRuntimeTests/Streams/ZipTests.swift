import TestSupport
import Testing

@testable import ReactorRuntime

/// zip, and combineLatest of more than four.
@Suite struct ZipTests {
  private let feeds = (0..<3).map { _ in Feed<Int>() }
  private let record = Record<String>()

  @Test func `zip combines the elements of the same number`() {
    let subscription = record.observe(.zip(feeds[0].stream, feeds[1].stream) { $0 * 10 + $1 })
    for number in 1...3 { feeds[0].next(number) }
    #expect(record.elements == [])
    feeds[1].next(7)
    feeds[1].next(8)
    #expect(record.elements == ["next(17)", "next(28)"])
    subscription.dispose()
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
  }

  @Test func `zip completes when no further combination can come`() {
    let subscription = record.observe(.zip(feeds[0].stream, feeds[1].stream) { $0 + $1 })
    feeds[0].next(1)
    feeds[0].complete()
    #expect(record.elements == [])
    feeds[1].next(2)
    #expect(record.elements == ["next(3)", "completed"])
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    subscription.dispose()
    #expect(events(of: .zip(Observable<Int>.empty(), Observable<Int>.never()) { $0 + $1 }) == ["completed"])
  }

  @Test func `zip of three, of four and of a list fails with the first failure`() {
    let (a, b, c) = (feeds[0].stream, feeds[1].stream, feeds[2].stream)
    let streams: [Observable<String>] = [
      .zip(a, b, c) { "\($0)\($1)\($2)" }, .zip(a, b, c, a) { "\($0)\($1)\($2)\($3)" },
      .zip([a, b, c]) { "\($0)" }, Observable.zip([a, b, c]).map { "\($0)" },
      Observable.zip(a, b, c).map { "\($0)" }, Observable.zip(a, b, c, a).map { "\($0)" },
    ]
    let records = streams.map { _ in Record<String>() }
    let subscriptions = zip(streams, records).map { $1.observe($0) }
    for (number, feed) in feeds.enumerated() {
      feed.next(number)
      feed.next(number + 3)
    }
    feeds[1].fail()
    let firsts = ["012", "0120", "[0, 1, 2]", "[0, 1, 2]", "(0, 1, 2)", "(0, 1, 2, 0)"]
    let seconds = ["345", "3453", "[3, 4, 5]", "[3, 4, 5]", "(3, 4, 5)", "(3, 4, 5, 3)"]
    for (index, record) in records.enumerated() {
      #expect(record.elements == ["next(\(firsts[index]))", "next(\(seconds[index]))", "error(failure)"])
    }
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    for subscription in subscriptions { subscription.dispose() }
    #expect(events(of: Observable.zip([Observable<Int>]())) == ["completed"])
    #expect(
      events(
        of: .zip(Observable.just(1), Observable.just(1)) { _, _ in throw TestFailure() } as Observable<Int>)
        == ["error(failure)"])
  }

  @Test func `a stream too far ahead makes zip fail, and not memory grow`() {
    let subscription = record.observe(.zip(feeds[0].stream, feeds[1].stream) { $0 + $1 })
    for number in 0..<WaitingElements<Int>.limit { feeds[0].next(number) }
    feeds[1].next(1)
    feeds[0].next(0)
    #expect(record.elements == ["next(1)"])
    feeds[0].next(0)
    #expect(record.elements == ["next(1)", "error(\(RxError.overflow))"])
    subscription.dispose()
  }

  @Test func `disposal inside of a delivery ends zip`() {
    let subscription = SerialDisposable()
    subscription.disposable = Observable.zip(feeds[0].stream, feeds[1].stream).subscribe { [record] in
      record.append("\($0)")
      subscription.dispose()
    }
    for feed in feeds + feeds { feed.next(1) }
    #expect(record.elements == ["next((1, 1))"])
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
  }

  @Test func `zip of five to eight combines the elements of the same number`() {
    let (a, b) = (Observable.of(1, 2), feeds[0].stream)
    let streams: [Observable<String>] = [
      .zip(a, a, a, a, b) { "\($0)\($1)\($2)\($3)\($4)" },
      .zip(a, b, a, a, a, a) { "\($0)\($1)\($2)\($3)\($4)\($5)" },
      .zip(a, a, a, a, a, b, a) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)" },
      .zip(b, a, a, a, a, a, a, b) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)\($7)" },
      Observable.zip(a, a, a, a, b).map { "\($0)" },
      Observable.zip(a, a, a, a, a, b).map { "\($0)" },
      Observable.zip(a, a, a, a, a, a, b).map { "\($0)" },
      Observable.zip(a, a, a, b, a, a, a, a).map { "\($0)" },
    ]
    let records = streams.map { _ in Record<String>() }
    let subscriptions = zip(streams, records).map { $1.observe($0) }
    #expect(records.allSatisfy { $0.elements.isEmpty })
    feeds[0].next(8)
    feeds[0].next(9)
    let firsts = [
      "11118", "181111", "1111181", "81111118", "(1, 1, 1, 1, 8)", "(1, 1, 1, 1, 1, 8)",
      "(1, 1, 1, 1, 1, 1, 8)", "(1, 1, 1, 8, 1, 1, 1, 1)",
    ]
    for (record, first) in zip(records, firsts) {
      let second = String(first.map { $0 == "1" ? "2" : $0 == "8" ? "9" : $0 })
      #expect(Array(record.elements.prefix(2)) == ["next(\(first))", "next(\(second))"])
    }
    feeds[0].complete()
    #expect(records.allSatisfy { $0.elements.count == 3 && $0.elements.last == "completed" })
    for subscription in subscriptions { subscription.dispose() }
  }

  @Test func `what has ended in zip or combineLatest does not hide a later failure`() {
    let (a, b) = (feeds[0].stream, feeds[1].stream)
    let (one, none) = (Observable.just(1), Observable<Int>.empty())
    let streams: [Observable<Int>] = [
      .zip(a, one, b) { _, _, _ in 0 }, .zip(a, one, b, b) { _, _, _, _ in 0 },
      .zip(a, one, b, b, b) { _, _, _, _, _ in 0 }, .zip(a, one, b, b, b, b) { _, _, _, _, _, _ in 0 },
      .zip(a, one, b, b, b, b, b) { _, _, _, _, _, _, _ in 0 },
      .zip(a, one, b, b, b, b, b, b) { _, _, _, _, _, _, _, _ in 0 },
      .combineLatest(a, one, one, none, b) { _, _, _, _, _ in 0 },
      .combineLatest(a, one, one, none, b, b) { _, _, _, _, _, _ in 0 },
      .combineLatest(a, one, one, none, b, b, b) { _, _, _, _, _, _, _ in 0 },
      .combineLatest(a, one, one, none, b, b, b, b) { _, _, _, _, _, _, _, _ in 0 },
    ]
    let records = streams.map { _ in Record<String>() }
    let subscriptions = zip(streams, records).map { $1.observe($0) }
    feeds[0].next(1)
    #expect(records.allSatisfy { $0.elements.isEmpty })
    feeds[0].fail()
    #expect(records.allSatisfy { $0.elements == ["error(failure)"] })
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    for subscription in subscriptions { subscription.dispose() }
  }

  @Test func `combineLatest of five to eight sends one result for each element`() {
    let a = Observable.just(1)
    let b = feeds[0].stream
    let streams: [Observable<String>] = [
      .combineLatest(a, a, a, a, b) { "\($0)\($1)\($2)\($3)\($4)" },
      .combineLatest(a, b, a, a, a, a) { "\($0)\($1)\($2)\($3)\($4)\($5)" },
      .combineLatest(a, a, a, a, a, b, a) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)" },
      .combineLatest(b, a, a, a, a, a, a, b) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)\($7)" },
      Observable.combineLatest(a, a, a, a, b).map { "\($0)" },
      Observable.combineLatest(a, a, a, a, a, b).map { "\($0)" },
      Observable.combineLatest(a, a, a, a, a, a, b).map { "\($0)" },
      Observable.combineLatest(a, a, a, b, a, a, a, a).map { "\($0)" },
    ]
    let records = streams.map { _ in Record<String>() }
    let subscriptions = zip(streams, records).map { $1.observe($0) }
    feeds[0].next(2)
    feeds[0].next(3)
    feeds[0].complete()
    let last = [
      "11113", "131111", "1111131", "31111113", "(1, 1, 1, 1, 3)", "(1, 1, 1, 1, 1, 3)",
      "(1, 1, 1, 1, 1, 1, 3)", "(1, 1, 1, 3, 1, 1, 1, 1)",
    ]
    for (index, record) in records.enumerated() {
      // Both ends of the one of eight are the same source, so each element makes two results but the first.
      #expect(record.elements.count == (index == 3 ? 4 : 3))
      #expect(Array(record.elements.suffix(2)) == ["next(\(last[index]))", "completed"])
    }
    for subscription in subscriptions { subscription.dispose() }
  }

  @Test func `zip of a list looks at one stream for each element`() {
    let grown = growth(from: 300) { count in
      let feeds = (0..<count).map { _ in PublishSubject<Int>() }
      let results = Record<Int>()
      let subscription = Observable.zip(feeds).subscribe(onNext: { results.append($0.count) })
      for element in 0..<20 { for feed in feeds { feed.onNext(element) } }
      #expect(results.elements == Array(repeating: count, count: 20))
      subscription.dispose()
    }
    #expect(grown < 9)
  }
}
