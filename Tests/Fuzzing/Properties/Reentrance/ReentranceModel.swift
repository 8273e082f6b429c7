/// A plain reactor: a queue of actions, the mutations of the running one, the emissions of each stream, and the
/// observers that must be notified.
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
  /// For each observer of the state, by number, whether it is still subscribed.
  private(set) var observers: [Bool]
  /// The observers that must be notified of the state before anything else happens.
  private(set) var owed: [Int] = []

  init(stateObservers: Int) { observers = Array(repeating: true, count: stateObservers) }

  var isAtRest: Bool {
    actions.isEmpty && mutations.isEmpty && owedNow.isEmpty && streams.allSatisfy(\.pending.isEmpty)
  }

  /// How many streams have not ended. Each of them keeps its action.
  var runningStreamCount: Int { streams.count { $0.left > 0 } }

  /// An observer that was disposed of meanwhile need not be notified.
  var owedNow: [Int] { owed.filter { observers[$0] } }

  mutating func send(_ action: Int) { actions.append(action) }

  /// Returns the action that must come next, or nil if the previous one is not over.
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

  /// Returns the mutation that must come next, of those that are known or of a stream.
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

  /// Returns the observer that must be notified next.
  mutating func observe() -> Int? {
    let next = owedNow.first
    if let next { owed.removeAll { $0 <= next } }
    return next
  }

  mutating func dispose(observer: Int) {
    if observers.indices.contains(observer) { observers[observer] = false }
  }
}
