import ReactorCore
import TestSupport
import Testing

/// The place for a value that comes later.
@Suite struct LateValueTests {
  private struct Large: Sendable, Equatable {
    var words = [1, 2, 3]
    var more = (1...4).map { "\($0), and more than fits into a small string" }
    var numbers: (Int, Int, Int) = (1, 2, 3)
    static func == (one: Large, other: Large) -> Bool {
      (one.words, one.more) == (other.words, other.more) && one.numbers == other.numbers
    }
  }

  /// As the property of a class that knows the type.
  private final class Place<Value: Sendable> {
    private var value = LateValue()

    func set(_ value: Value) { self.value.set(value) }
    func get() -> Value { value.get(Value.self) }
    deinit { value.destroy(Value.self) }
  }

  @Test func `a value of any size comes out as it was put in`() {
    let (byte, text, large, nothing) = (Place<UInt8>(), Place<String>(), Place<Large>(), Place<Void>())
    byte.set(7)
    text.set("a string that is longer than the small ones")
    large.set(Large())
    nothing.set(())
    #expect(byte.get() == 7)
    #expect(text.get() == "a string that is longer than the small ones")
    #expect(text.get() == text.get())
    #expect(large.get() == Large())
    nothing.get()
  }

  @Test func `a value is released with its place, and an empty place releases nothing`() {
    weak var one: Shared<Int>?
    weak var other: Shared<Int>?
    do {
      let (small, large) = (Shared(0), Shared(1))
      (one, other) = (small, large)
      let place = Place<Shared<Int>>()
      let largePlace = Place<(Shared<Int>, Large)>()
      _ = Place<Shared<Int>>()
      place.set(small)
      largePlace.set((large, Large()))
      #expect(place.get() === small)
      #expect(largePlace.get().0 === large)
    }
    #expect(one == nil)
    #expect(other == nil)
  }
}
