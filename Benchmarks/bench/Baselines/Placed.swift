/// A variable at a fixed address: what a class's own variable costs in checks of exclusive access, which
/// whoever holds a lock does not need, would be counted against the lock.
struct Placed<Value>: ~Copyable {
  private let pointer: UnsafeMutablePointer<Value>

  init(_ value: Value) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: value)
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  var value: Value {
    @inline(__always) get { pointer.pointee }
    @inline(__always) nonmutating _modify { yield &pointer.pointee }
  }
}
