import CBenchmarkLimits

/// A reference to an immutable state, which the owner exchanges once per turn and a reader retains: see
/// `bl_reference.h`.
///
/// `@unchecked Sendable`: the functions that get `reference` may be called from any thread.
final class ReferenceReads: ReadSubject, @unchecked Sendable {
  private final class Snapshot: Sendable {
    let state: ReadState
    init(_ state: ReadState) { self.state = state }
  }

  private let reference: OpaquePointer
  private let sign: StopSign

  init(_ sign: StopSign) throws {
    guard let reference = bl_reference_create(Self.retained(ReadState())) else {
      throw SubjectFailure("out of memory")
    }
    self.reference = reference
    self.sign = sign
  }

  deinit { bl_reference_destroy(reference) }

  func own() {
    var state = ReadState()
    read { state = $0 }
    while !sign.isUp {
      for _ in 0..<StopSign.turn where !sign.isUp { state.addNext() }
      bl_reference_exchange(reference, Self.retained(state))
    }
  }

  @inline(__always)
  func read(_ body: (ReadState) -> Void) {
    // Non-null: it is never exchanged for nothing.
    let loaded = bl_reference_load(reference)!
    Unmanaged<Snapshot>.fromOpaque(loaded)._withUnsafeGuaranteedRef { body($0.state) }
    bl_reference_release(loaded)
  }

  private static func retained(_ state: ReadState) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(Snapshot(state)).toOpaque()
  }
}
