import ReactorCore
import TestSupport
import Testing

/// A line that elements leave from any place.
@Suite struct WaitingLineTests {
  @Test(arguments: 0..<20)
  func `a line behaves like an array`(_ seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var line = WaitingLine<Int>()
    var expected: [(element: Int, place: WaitingLine<Int>.Place)] = []
    var gone: [WaitingLine<Int>.Place] = []
    for number in 0..<2000 {
      switch generator.next() % 5 {
      case 0, 1: expected.append((number, line.append(number)))
      case 2 where !expected.isEmpty:
        let index = Int(generator.next() % UInt64(expected.count))
        let (element, place) = expected.remove(at: index)
        #expect(line.remove(at: place) == element)
        gone.append(place)
      case 3:
        #expect(line.removeFirst() == expected.first?.element)
        if !expected.isEmpty { gone.append(expected.removeFirst().place) }
      default:
        // A place is not that of an element which came later.
        if let place = gone.randomElement(using: &generator) { #expect(line.remove(at: place) == nil) }
      }
      #expect(line.count == expected.count)
      #expect(line.isEmpty == expected.isEmpty)
      #expect(line.first == expected.first?.element)
      #expect(line.elements == expected.map(\.element))
    }
    while let element = line.removeFirst() { #expect(element == expected.removeFirst().element) }
    #expect(expected.isEmpty)
  }

  @Test
  func `what leaves is released`() {
    let lifetimes = Lifetimes()
    var line = WaitingLine<LifetimeTracked>()
    let places = (0..<100).map { line.append(lifetimes.track($0)) }
    for place in places[..<50] { _ = line.remove(at: place) }
    #expect(lifetimes.alive == 50)
    while line.removeFirst() != nil {}
    #expect(lifetimes.alive == 0)
  }

  /// The last element leaves first: a search from the front would take as long as the line.
  @Test
  func `leaving takes no longer in a long line`() {
    func time(_ count: Int) -> Duration {
      var fastest = Duration.seconds(3600)
      for _ in 0..<5 {
        var line = WaitingLine<Int>()
        let places = (0..<count).map { line.append($0) }
        let duration = ContinuousClock().measure {
          for place in places.dropFirst(count / 2).reversed() { _ = line.remove(at: place) }
        }
        fastest = min(fastest, duration)
      }
      return fastest / (count / 2)
    }
    // A search would take 500 times as long.
    #expect(time(100_000) < time(200) * 50)
  }
}
