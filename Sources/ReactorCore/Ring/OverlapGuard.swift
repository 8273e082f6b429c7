#if DEBUG
  import Synchronization

  /// Stops the program if two calls overlap that only one thread at a time may make. Debug builds only, because it costs a
  /// read-modify-write at the beginning of each call.
  @usableFromInline
  final class OverlapGuard: Sendable {
    private let isInside = Atomic(false)
    private let what: String

    @usableFromInline
    init(_ what: String) { self.what = what }

    @usableFromInline
    func enter() {
      // Relaxed: the guard must not add an edge that a release build does not have.
      if isInside.exchange(true, ordering: .relaxed) {
        fatalError(
          """
          Problem: two calls of \(what) overlap.
          Likely cause: two threads consume the same ring, or a \(what) is called from inside another.
          Remedy: let one thread at a time consume; guard the role with a Trampoline.
          """)
      }
    }

    @usableFromInline
    func leave() { isInside.store(false, ordering: .relaxed) }
  }
#endif
