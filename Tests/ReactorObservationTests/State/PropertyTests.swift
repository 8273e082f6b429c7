#if ObservationMacros
  import ReactorObservation
  import Testing

  @Suite struct PropertyTests {
    @Test func `a change is announced to a reader of the property`() {
      var state = Basic()
      #expect(Tracking.announces({ state.count = 1 }, to: { _ = state.count }))
      #expect(state.count == 1)
    }

    @Test func `a change is not announced to a reader of another property`() {
      var state = Basic()
      #expect(!Tracking.announces({ state.count = 1 }, to: { _ = state.name }))
    }

    @Test func `a change is announced to a reader of several properties`() {
      var state = Basic()
      #expect(
        Tracking.announces({ state.isLoading = true }, to: { _ = (state.count, state.isLoading) }))
    }

    @Test func `an equal value is no change`() {
      var state = Basic(count: 3)
      #expect(!Tracking.announces({ state.count = 3 }, to: { _ = state.count }))
    }

    @Test func `an assignment of what cannot be compared is a change`() {
      var state = Outer()
      #expect(Tracking.announces({ state.opaque = Opaque() }, to: { _ = state.opaque }))
    }

    @Test func `the same object is no change, and another one is`() {
      var state = Outer()
      let node = state.node
      #expect(!Tracking.announces({ state.node = node }, to: { _ = state.node }))
      #expect(Tracking.announces({ state.node = Node() }, to: { _ = state.node }))
    }

    @Test func `a change in place is announced`() {
      var state = Outer()
      #expect(Tracking.announces({ state.list.append(Inner()) }, to: { _ = state.list }))
      #expect(Tracking.announces({ state.inner.value += 1 }, to: { _ = state.inner.value }))
      #expect(state.list.count == 1)
    }

    @ObservableState struct Containers {
      var items: [Int] = []
      var table: [String: Int] = [:]
    }

    @Test func `a change of an element is announced to readers of its array or dictionary`() {
      var state = Containers()
      let table = Tracking { _ = state.table }
      #expect(Tracking.announces({ state.items.append(1) }, to: { _ = state.items }))
      #expect(Tracking.announces({ state.items[0] = 2 }, to: { _ = state.items }))
      #expect(!table.isAnnounced)
      #expect(Tracking.announces({ state.table["a"] = 1 }, to: { _ = state.table }))
      #expect(Tracking.announces({ state.table["a", default: 0] += 1 }, to: { _ = state.table["a"] }))
      #expect(state.items == [2] && state.table == ["a": 2])
    }

    @Test func `a change in place does not copy the elements`() {
      var box = Box<Int>(elements: Array(0..<100), limit: 3)
      let before = box.elements.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      box.elements[3] = -1
      #expect(box.elements.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == before)
    }

    @Test func `a change in place is announced even if the value stays equal`() {
      var state = Basic()
      #expect(Tracking.announces({ state.count += 0 }, to: { _ = state.count }))
    }

    @Test func `an ignored property is neither announced nor does it change the identity`() {
      var state = Outer()
      let identity = state._$id
      #expect(!Tracking.announces({ state.cache = 1 }, to: { _ = state.cache }))
      #expect(state.cache == 1)
      #expect(state._$id == identity)
    }

    @Test func `a computed property of a value is announced by what it reads`() {
      var state = Outer()
      #expect(Tracking.announces({ state.inner.value = 1 }, to: { _ = state.total }))
      #expect(!Tracking.announces({ state.list = [Inner()] }, to: { _ = state.total }))
    }

    @Test func `an optional property begins as nil and is announced`() {
      var state = Outer()
      #expect(state.optional == nil)
      #expect(Tracking.announces({ state.optional = Inner() }, to: { _ = state.optional }))
      #expect(Tracking.announces({ state.optional?.value = 2 }, to: { _ = state.optional?.value }))
    }

    @Test func `a change of a copy is announced to the readers of the original`() {
      let original = Basic()
      var copy = original
      #expect(Tracking.announces({ copy.count = 99 }, to: { _ = original.count }))
      #expect(original.count == 0)
    }

    @Test func `a state that was made separately has readers of its own`() {
      let one = Basic()
      var other = Basic()
      #expect(!Tracking.announces({ other.count = 99 }, to: { _ = one.count }))
    }

    @Test func `a second change is announced to a reader that has read again`() {
      var state = Basic()
      for number in 1...3 {
        #expect(Tracking.announces({ state.count = number }, to: { _ = state.count }))
      }
    }

    @Test func `of the changes of what a reader has read, the first one is announced to it`() {
      var (one, other) = (Basic(), Basic())
      let reader = Tracking { _ = (one.count, one.name, other.count) }
      one.count = 1
      one.count = 2
      one.name = "a"
      other.count = 1
      #expect(reader.count == 1)
      let otherReader = Tracking { _ = (one.count, other.count) }
      other.count = 2
      one.count = 3
      #expect(otherReader.count == 1)
    }

    @Test func `what a reader inside of another one has read is announced to both`() {
      var state = Basic()
      var inner: Tracking?
      let outer = Tracking {
        _ = state.count
        inner = Tracking { _ = state.name }
      }
      state.name = "a"
      #expect(inner?.count == 1)
      #expect(outer.count == 1)
    }

    @Test func `one change is announced once to each of many readers`() {
      var state = Basic()
      let readers = (0..<10).map { _ in Tracking { _ = state.count } }
      let others = (0..<10).map { _ in Tracking { _ = state.name } }
      state.count = 1
      #expect(readers.allSatisfy { $0.isAnnounced })
      #expect(!others.contains { $0.isAnnounced })
    }
  }
#endif
