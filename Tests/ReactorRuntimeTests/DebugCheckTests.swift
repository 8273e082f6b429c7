#if DEBUG
  import ReactorRuntime
  import Testing

  private final class Sharing: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    init(_ runtime: Runtime<Int, Int, Int>) { self.runtime = runtime }
  }

  /// Mistakes that a debug build stops at.
  @Suite struct DebugCheckTests {
    @Test func `runtime of other types is noted and not silently replaced`() async {
      await #expect(processExitsWith: .failure) {
        final class Mistaken: Reactor {
          typealias Action = Int
          typealias State = Int
          let initialState = 0
          let runtime = Runtime<Int, Int, String>()
        }
        Mistaken().send(1)
      }
      await #expect(processExitsWith: .success) {
        final class Right: Reactor {
          typealias Action = Int
          typealias State = Int
          let initialState = 0
          let runtime = Runtime<Int, Int, Int>()
        }
        Right().send(1)
      }
    }

    @Test func `runtime that serves two reactors is noted`() async {
      await #expect(processExitsWith: .failure) {
        let runtime = Runtime<Int, Int, Int>()
        let (first, second) = (Sharing(runtime), Sharing(runtime))
        first.send(1)
        second.send(1)
      }
      await #expect(processExitsWith: .failure) {
        let runtime = Runtime<Int, Int, Int>()
        let (first, second) = (Sharing(runtime), Sharing(runtime))
        first.send(1)
        second.action.onNext(1)
      }
    }
  }
#endif
