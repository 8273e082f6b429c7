#if DEBUG
  import Synchronization

  /// Stops the program when something that only one thread at a time may do is done twice at once.
  /// Debug builds only: it costs a read-modify-write on each side.
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
