/// Elements in the order in which they came, each of which may leave from any place: a list inside of an array.
///
/// A plain value without a lock. Whatever leaves is returned, so that a caller with a lock can destroy it afterwards.
public struct WaitingLine<Element> {
  /// Where an element is. It stays valid, and names no other element, after that one has left.
  public struct Place: Sendable, Hashable {
    let index: Int
    let number: UInt64

    init(_ index: Int, _ number: UInt64) {
      self.index = index
      self.number = number
    }
  }

  fileprivate struct Slot {
    var element: Element?
    /// That of the element, counted from the first one of all.
    var number: UInt64
    var previous: Int
    /// Of a slot without an element: the next one without.
    var next: Int

    init(_ element: Element, _ number: UInt64, after previous: Int) {
      self.element = element
      self.number = number
      self.previous = previous
      next = -1
    }
  }

  // The indexes are -1 for none.
  private var slots: [Slot] = []
  private var firstIndex = -1
  private var lastIndex = -1
  private var firstFree = -1
  /// How many elements came, those that have left included.
  public private(set) var total: UInt64 = 0
  /// How many elements there are.
  public private(set) var count = 0

  /// Creates a line without elements.
  public init() {}

  /// Whether there are no elements.
  public var isEmpty: Bool { count == 0 }

  /// The element that came first.
  public var first: Element? { firstIndex < 0 ? nil : slots[firstIndex].element }

  /// The elements, in the order in which they came.
  ///
  /// - Complexity: O(n).
  public var elements: [Element] {
    var elements: [Element] = []
    elements.reserveCapacity(count)
    var index = firstIndex
    while index >= 0 {
      if let element = slots[index].element { elements.append(element) }
      index = slots[index].next
    }
    return elements
  }

  /// Adds an element behind all others.
  ///
  /// - Complexity: Amortised O(1).
  public mutating func append(_ element: Element) -> Place {
    let slot = Slot(element, total, after: lastIndex)
    let index: Int
    if firstFree < 0 {
      index = slots.count
      slots.append(slot)
    } else {
      index = firstFree
      firstFree = slots[index].next
      slots[index] = slot
    }
    if lastIndex < 0 { firstIndex = index } else { slots[lastIndex].next = index }
    lastIndex = index
    total += 1
    count += 1
    return Place(index, slot.number)
  }

  /// Removes and returns the element at a place; nil if it has left.
  ///
  /// - Complexity: O(1).
  public mutating func remove(at place: Place) -> Element? {
    let index = place.index
    guard index < slots.count, slots[index].number == place.number else { return nil }
    guard let element = slots[index].element.take() else { return nil }
    let (previous, next) = (slots[index].previous, slots[index].next)
    if previous < 0 { firstIndex = next } else { slots[previous].next = next }
    if next < 0 { lastIndex = previous } else { slots[next].previous = previous }
    slots[index].next = firstFree
    firstFree = index
    count -= 1
    if count == 0 { freeSlots() }
    return element
  }

  /// Removes and returns the element that came first; nil if there is none.
  ///
  /// - Complexity: O(1).
  public mutating func removeFirst() -> Element? {
    firstIndex < 0 ? nil : remove(at: Place(firstIndex, slots[firstIndex].number))
  }

  /// The memory of a long line is not kept once it is empty.
  private mutating func freeSlots() {
    slots.removeAll(keepingCapacity: slots.count <= 64)
    firstFree = -1
  }
}

extension WaitingLine: Sendable where Element: Sendable {}
extension WaitingLine.Slot: Sendable where Element: Sendable {}
