import ReactorCore
import TestSupport
import Testing

/// Elements of every kind are moved through the slots, and each is destroyed exactly once.
@Suite struct RingElementTests {
  struct Unique: ~Copyable {
    let tracked: LifetimeTracked
    let log: Record<Int>
    deinit { log.append(tracked.value) }
  }
  struct Nothing: Equatable {}
  struct Wide: Equatable {
    var words: InlineArray<25, Int>
    init(_ value: Int) { words = InlineArray(repeating: value) }
    static func == (left: Wide, right: Wide) -> Bool {
      left.words.indices.allSatisfy { left.words[$0] == right.words[$0] }
    }
  }
  enum Payload: Equatable {
    case none
    case text(String)
    case numbers([Int])
    indirect case nested(Payload)
  }
  protocol Named { var name: String { get } }
  struct Small: Named { let name: String }
  final class Large: Named {
    let name: String
    init(_ name: String) { self.name = name }
  }

  /// An element with an object that is counted, so that an element that leaks or is destroyed twice is noticed.
  struct Carried<Element> {
    let element: Element
    let payload: LifetimeTracked
  }

  /// Sends three laps of elements and expects to receive the same: the elements alone, then each with an object.
  private func roundTrip<Element>(
    _ make: (Int) -> Element, _ isEqual: (Element, Element) -> Bool
  ) throws {
    try threeLaps(make, isEqual)
    let lifetimes = Lifetimes()
    try threeLaps(
      { Carried(element: make($0), payload: lifetimes.track($0)) },
      { isEqual($0.element, $1.element) && $0.payload.value == $1.payload.value })
    #expect(lifetimes.alive == 0)
    #expect(lifetimes.total > 0)
  }

  private func threeLaps<Element>(
    _ make: (Int) -> Element, _ isEqual: (Element, Element) -> Bool
  ) throws {
    let ring = try Ring<Element>(capacity: 4)
    for index in 0..<12 {
      #expect(ring.trySend(make(index)).isAccepted)
      #expect(ring.trySend(count: 3) { make(index + $0) } == .accepted)
      #expect(ring.trySend(make(index)).isAccepted == false)
      let received = ring.received()
      let expected = [index, index, index + 1, index + 2].map(make)
      #expect(zip(received, expected).allSatisfy(isEqual) && received.count == 4)
    }
    _ = ring.trySend(make(0))
  }

  @Test
  func `values of any layout are received as they were sent`() throws {
    try roundTrip({ _ in Nothing() }, ==)
    try roundTrip({ _ in () }, { _, _ in true })
    try roundTrip({ UInt8($0) }, ==)
    try roundTrip({ Wide($0) }, ==)
    try roundTrip({ SIMD64<UInt8>(repeating: UInt8($0)) }, ==)
    try roundTrip({ "a text that is too long to be kept inline: \($0)" }, ==)
    try roundTrip({ $0 % 2 == 0 ? Optional($0) : nil }, ==)
    try roundTrip({ [Payload.none, .text("\($0)"), .nested(.numbers([$0]))][$0 % 3] }, ==)
    #expect(MemoryLayout<Wide>.size == 200)
    #expect(MemoryLayout<SIMD64<UInt8>>.alignment == 16)
    #expect(MemoryLayout<Nothing>.size == 0)
  }

  @Test
  func `existentials and closures are received as they were sent`() throws {
    try roundTrip(
      { $0 % 2 == 0 ? Small(name: "\($0)") as any Named : Large("\($0)") }, { $0.name == $1.name })
    let lifetimes = Lifetimes()
    try roundTrip(
      { index in
        let tracked = lifetimes.track(index)
        return { tracked.value }
      }, { (left: () -> Int, right: () -> Int) in left() == right() })
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `a ring destroys each object exactly once`() throws {
    let lifetimes = Lifetimes()
    do {
      let ring = try Ring<LifetimeTracked>(capacity: 8)
      for index in 0..<20 {
        #expect(ring.trySend(lifetimes.track(index)).isAccepted)
        #expect(lifetimes.alive == 1)
        #expect(ring.received().map(\.value) == [index])
        #expect(lifetimes.alive == 0)
      }
      // Elements that are refused are returned, and destroyed here.
      #expect(ring.trySend(count: 8) { lifetimes.track($0) } == .accepted)
      #expect(ring.trySend(lifetimes.track()).isAccepted == false)
      #expect(ring.trySend(count: 2) { lifetimes.track($0) } == .full)
      #expect(lifetimes.alive == 8)
      // The rest of the run is destroyed with the ring.
      #expect(ring.received(upTo: 3).map(\.value) == [0, 1, 2])
      #expect(lifetimes.alive == 5)
    }
    #expect(lifetimes.alive == 0)
    #expect(lifetimes.total == 29)
  }

  @Test
  func `noncopyable elements are moved`() throws {
    let lifetimes = Lifetimes()
    let destroyed = Record<Int>()
    do {
      let ring = try Ring<Unique>(capacity: 4)
      for index in 0..<4 {
        let outcome = ring.trySend(Unique(tracked: lifetimes.track(index), log: destroyed))
        #expect(outcome.isAccepted == true)
      }
      #expect(destroyed.elements == [])
      switch ring.trySend(Unique(tracked: lifetimes.track(4), log: destroyed)) {
      case .full(let refused): #expect(refused.tracked.value == 4)
      case .accepted: Issue.record("a full ring accepted")
      case .closed: Issue.record("an open ring reported closed")
      }
      #expect(destroyed.elements == [4])
      _ = ring.drain(upTo: 1) { (element: consuming Unique) in #expect(element.tracked.value == 0) }
      #expect(destroyed.elements == [4, 0])
      #expect(
        ring.trySend(count: 1) { Unique(tracked: lifetimes.track(5 + $0), log: destroyed) } == .accepted)
    }
    #expect(destroyed.elements == [4, 0, 1, 2, 3, 5])
    #expect(lifetimes.alive == 0)
  }
}
