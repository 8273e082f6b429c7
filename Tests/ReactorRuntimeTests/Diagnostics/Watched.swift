import ReactorRuntime
import TestSupport

/// A reactor for tests of warnings. Warnings about one type within a second are counted together, so `Name` gives each
/// test a type of its own.
final class Watched<Name>: ReactorKitReactor {
  typealias Action = Int
  typealias State = [Int]
  typealias Mutate = @Sendable (Watched, Int) -> Observable<Int>
  typealias Reduce = @Sendable (Watched, [Int], Int) -> [Int]

  let initialState: [Int] = []
  let runtime: Runtime<Int, Int, [Int]>
  let expectedThread: ExpectedThread?
  private let onMutate: Mutate
  private let onReduce: Reduce

  init(
    on placement: Placement = .caller, expecting thread: ExpectedThread? = nil, capacity: Int = 64,
    mutate: @escaping Mutate = { _, action in .just(action) },
    reduce: @escaping Reduce = { _, state, mutation in state + [mutation] }
  ) {
    runtime = Runtime(on: placement, capacity: capacity)
    expectedThread = thread
    onMutate = mutate
    onReduce = reduce
  }

  func mutate(action: Int) -> Observable<Int> { onMutate(self, action) }
  func reduce(state: [Int], mutation: Int) -> [Int] { onReduce(self, state, mutation) }
}

/// Like ``Watched``, with a stream merged in one of its transforms.
final class Merging<Name>: Reactor {
  typealias Action = Int
  typealias State = Int

  let initialState = 0
  let runtime = Runtime<Int, Int, Int>()
  let expectedThread: ExpectedThread?
  let source = PublishSubject<Int>()
  private let transform: Failure.Transform
  private let onReduce: @Sendable (Merging, Int) -> Void

  init(
    _ transform: Failure.Transform, expecting thread: ExpectedThread? = nil,
    reduce: @escaping @Sendable (Merging, Int) -> Void = { _, _ in }
  ) {
    self.transform = transform
    expectedThread = thread
    onReduce = reduce
  }

  private func merged(_ stream: Observable<Int>, _ transform: Failure.Transform) -> Observable<Int> {
    self.transform == transform ? .merge(stream, source.asObservable()) : stream
  }

  func transform(action: Observable<Int>) -> Observable<Int> { merged(action, .action) }
  func transform(mutation: Observable<Int>) -> Observable<Int> { merged(mutation, .mutation) }
  func transform(state: Observable<Int>) -> Observable<Int> { merged(state, .state) }

  func reduce(into state: inout Int, mutation: Int) {
    onReduce(self, mutation)
    state += mutation
  }
}

/// Runs `body` in a turn on the thread of a loop, and returns when it has finished.
func run(on loop: Loop, _ body: @escaping @Sendable () -> Void) -> Bool {
  enum Runner {}
  let isDone = Gate()
  let runner = Watched<Runner>(
    on: .loop(loop),
    mutate: { _, _ in
      body()
      isDone.open()
      return .empty()
    })
  runner.send(0)
  return isDone.wait()
}
