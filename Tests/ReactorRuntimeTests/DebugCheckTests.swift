#if DEBUG
  import ReactorRuntime
  import Testing

  private final class Sharing: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    init(_ runtime: Runtime<Int, Int, Int>) { self.runtime = runtime }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  /// Tests of mistakes at which a debug build stops.
  @Suite struct DebugCheckTests {
    @Test func `a runtime of two reactors stops the program`() async {
      let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let runtime = Runtime<Int, Int, Int>()
        let (first, second) = (Sharing(runtime), Sharing(runtime))
        first.send(1)
        second.send(1)
      }
      #expect(stop?.standardErrorContent.says("serves two reactors") == true)
      let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let runtime = Runtime<Int, Int, Int>()
        let (first, second) = (Sharing(runtime), Sharing(runtime))
        first.send(1)
        second.action.onNext(1)
      }
      #expect(stop2?.standardErrorContent.says("serves two reactors") == true)
    }
  }
#endif
