/// What a reactor must do, written plainly: a queue of actions, the mutations of the running one, what each stream
/// has emitted, and the observers that are to be told.
struct ReentranceModel {
  struct Stream {
    let id: Int
    let number: Int
    var left: Int
    /// Emitted, and not yet reduced.
    var pending: [Int] = []
  }

  private(set) var actions: [Int] = []
  private(set) var mutations: [Int] = []
  private(set) var streams: [Stream] = []
  private(set) var state = Digest()
  /// By number, whether each observer of the state has not been disposed of.
  private(set) var observers: [Bool]
  /// Those that must be told the state before anything else happens.
  private(set) var owed: [Int] = []

  init(stateObservers: Int) { observers = Array(repeating: true, count: stateObservers) }

  var isAtRest: Bool {
    actions.isEmpty && mutations.isEmpty && owedNow.isEmpty && streams.allSatisfy(\.pending.isEmpty)
  }

  /// How many streams go on, each of which keeps its action.
  var runningStreamCount: Int { streams.count { $0.left > 0 } }

  /// Whoever was disposed of meanwhile need not be told.
  var owedNow: [Int] { owed.filter { observers[$0] } }

  mutating func send(_ action: Int) { actions.append(action) }

  /// Nil if no action's turn it is: the one before is not over.
  mutating func begin() -> Int? {
    guard mutations.isEmpty, owedNow.isEmpty, !actions.isEmpty else { return nil }
    return actions.removeFirst()
  }

  mutating func answer(_ mutations: [Int]) { self.mutations = mutations }

  mutating func answerStream(_ id: Int, _ number: Int, count: Int) {
    streams.append(Stream(id: id, number: number, left: count))
  }

  mutating func emit(_ element: Int, on number: Int) {
    for index in streams.indices where streams[index].number == number && streams[index].left > 0 {
      streams[index].left -= 1
      streams[index].pending.append(element)
    }
  }

  /// The mutation that must come next of those that are known; or of a stream.
  mutating func reduce(of stream: Int?) -> Int? {
    guard owedNow.isEmpty else { return nil }
    guard let stream else { return mutations.isEmpty ? nil : mutations.removeFirst() }
    guard let index = streams.firstIndex(where: { $0.id == stream }), !streams[index].pending.isEmpty
    else { return nil }
    return streams[index].pending.removeFirst()
  }

  mutating func note(_ mutation: Int) {
    state.append(mutation)
    owed = observers.indices.filter { observers[$0] }
  }

  /// The observer that must be told next.
  mutating func observe() -> Int? {
    let next = owedNow.first
    if let next { owed.removeAll { $0 <= next } }
    return next
  }

  mutating func dispose(observer: Int) {
    if observers.indices.contains(observer) { observers[observer] = false }
  }
}
