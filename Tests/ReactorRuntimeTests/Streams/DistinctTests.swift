import ReactorRuntime
import TestSupport
import Testing

/// distinctUntilChanged, in all its forms.
@Suite struct DistinctTests {
  private struct Point: Sendable, Equatable {
    var x: Int
    var y: Int
  }

  private let points = Observable.of(
    Point(x: 1, y: 1), Point(x: 1, y: 2), Point(x: 2, y: 2), Point(x: 2, y: 2), Point(x: 1, y: 2))

  private func coordinates(_ stream: Observable<Point>) -> [String] {
    events(of: stream.map { "\($0.x)\($0.y)" }).dropLast().map { String($0.dropFirst(5).dropLast()) }
  }

  @Test func `elements equal to the one before are left out`() {
    #expect(coordinates(points.distinctUntilChanged()) == ["11", "12", "22", "12"])
    #expect(events(of: Observable<Int>.empty().distinctUntilChanged()) == ["completed"])
  }

  @Test func `distinctUntilChanged compares keys`() {
    let expected = ["11", "22", "12"]
    #expect(coordinates(points.distinctUntilChanged(\.x)) == expected)
    #expect(coordinates(points.distinctUntilChanged(at: \.x)) == expected)
    #expect(coordinates(points.distinctUntilChanged { $0.x }) == expected)
    #expect(coordinates(points.distinctUntilChanged { $0.x == $1.x }) == expected)
    #expect(coordinates(points.distinctUntilChanged({ $0.x }, comparer: { $0 == $1 })) == expected)
  }

  @Test func `an element is compared with the last one that was sent`() {
    let close = Observable.of(0, 1, 2, 3).distinctUntilChanged { abs($0 - $1) < 2 }
    #expect(events(of: close) == ["next(0)", "next(2)", "completed"])
  }

  @Test func `nil is a key like any other`() {
    let values = Observable<Int?>.of(nil, nil, 1, nil)
    #expect(events(of: values.distinctUntilChanged().map { $0 ?? 0 }).count == 4)
  }
}
