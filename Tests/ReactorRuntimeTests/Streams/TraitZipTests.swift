import ReactorRuntime
import TestSupport
import Testing

/// `zip` of two to eight singles or maybes.
@Suite struct TraitZipTests {
  @Test func `zip of two to eight singles combines their elements`() {
    let (a, b, c, d) = (Single.just(1), Single.just("b"), Single.just(3), Single.just("d"))
    let texts: [Single<String>] = [
      Single.zip(a, b) { "\($0)\($1)" },
      Single.zip(a, b, c) { "\($0)\($1)\($2)" },
      Single.zip(a, b, c, d) { "\($0)\($1)\($2)\($3)" },
      Single.zip(a, b, c, d, a) { "\($0)\($1)\($2)\($3)\($4)" },
      Single.zip(a, b, c, d, a, b) { "\($0)\($1)\($2)\($3)\($4)\($5)" },
      Single.zip(a, b, c, d, a, b, c) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)" },
      Single.zip(a, b, c, d, a, b, c, d) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)\($7)" },
    ]
    let tuples: [Single<String>] = [
      Single.zip(a, b).map { "\($0)" }, Single.zip(a, b, c).map { "\($0)" },
      Single.zip(a, b, c, d).map { "\($0)" }, Single.zip(a, b, c, d, a).map { "\($0)" },
      Single.zip(a, b, c, d, a, b).map { "\($0)" }, Single.zip(a, b, c, d, a, b, c).map { "\($0)" },
      Single.zip(a, b, c, d, a, b, c, d).map { "\($0)" },
    ]
    expect(texts.map { $0.asObservable() }, tuples.map { $0.asObservable() })
  }

  @Test func `zip of two to eight maybes combines their elements`() {
    let (a, b, c, d) = (Maybe.just(1), Maybe.just("b"), Maybe.just(3), Maybe.just("d"))
    let texts: [Maybe<String>] = [
      Maybe.zip(a, b) { "\($0)\($1)" },
      Maybe.zip(a, b, c) { "\($0)\($1)\($2)" },
      Maybe.zip(a, b, c, d) { "\($0)\($1)\($2)\($3)" },
      Maybe.zip(a, b, c, d, a) { "\($0)\($1)\($2)\($3)\($4)" },
      Maybe.zip(a, b, c, d, a, b) { "\($0)\($1)\($2)\($3)\($4)\($5)" },
      Maybe.zip(a, b, c, d, a, b, c) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)" },
      Maybe.zip(a, b, c, d, a, b, c, d) { "\($0)\($1)\($2)\($3)\($4)\($5)\($6)\($7)" },
    ]
    let tuples: [Maybe<String>] = [
      Maybe.zip(a, b).map { "\($0)" }, Maybe.zip(a, b, c).map { "\($0)" },
      Maybe.zip(a, b, c, d).map { "\($0)" }, Maybe.zip(a, b, c, d, a).map { "\($0)" },
      Maybe.zip(a, b, c, d, a, b).map { "\($0)" }, Maybe.zip(a, b, c, d, a, b, c).map { "\($0)" },
      Maybe.zip(a, b, c, d, a, b, c, d).map { "\($0)" },
    ]
    expect(texts.map { $0.asObservable() }, tuples.map { $0.asObservable() })
  }

  /// Checks the zips of 1, "b", 3, "d", 1, … of two to eight parts.
  private func expect(_ texts: [Observable<String>], _ tuples: [Observable<String>]) {
    let parts = ["1", "b", "3", "d", "1", "b", "3", "d"]
    let quoted = ["1", "\"b\"", "3", "\"d\"", "1", "\"b\"", "3", "\"d\""]
    for count in 2...8 {
      let text = parts.prefix(count).joined()
      let tuple = quoted.prefix(count).joined(separator: ", ")
      #expect(events(of: texts[count - 2]) == ["next(\(text))", "completed"])
      #expect(events(of: tuples[count - 2]) == ["next((\(tuple)))", "completed"])
    }
  }

  @Test func `zip of maybes waits for all, is empty if one is empty, and fails with the first failure`() {
    let feeds = (0..<5).map { _ in Feed<Int>() }
    let record = Record<String>()
    func subscribe() -> any Disposable {
      let parts = feeds.map { $0.stream.asMaybe() }
      return record.observe(
        Maybe.zip(parts[0], parts[1], parts[2], parts[3], parts[4]) { $0 + $1 + $2 + $3 + $4 }.asObservable())
    }
    let first = subscribe()
    for feed in feeds {
      #expect(record.elements == [])
      feed.next(2)
      feed.complete()
    }
    #expect(record.elements == ["next(10)", "completed"])
    first.dispose()

    let second = subscribe()
    feeds[4].next(1)
    feeds[3].complete()
    #expect(record.elements.suffix(1) == ["completed"] && record.elements.count == 3)
    #expect(feeds.map(\.subscriptions) == [0, 0, 0, 0, 0])
    second.dispose()

    let third = subscribe()
    feeds[0].next(1)
    feeds[2].fail()
    #expect(record.elements.suffix(1) == ["error(failure)"] && record.elements.count == 4)
    #expect(feeds.map(\.subscriptions) == [0, 0, 0, 0, 0])
    third.dispose()
  }

  @Test func `what the closure of a zip throws is its failure`() {
    let failing: Single<Int> = Single.zip(.just(1), .just(2), .just(3), .just(4), .just(5)) { _, _, _, _, _ in
      throw TestFailure()
    }
    #expect(events(of: failing.asObservable()) == ["error(failure)"])
  }
}
