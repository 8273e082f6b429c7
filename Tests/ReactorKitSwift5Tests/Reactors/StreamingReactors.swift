import ReactorKitCompatibility

// Reactors with streams that go on.

/// A stopwatch: `flatMapLatest` in `transform(action:)`'s place, started and stopped by actions.
class StopwatchReactor: Reactor {
  enum Action {
    case start
    case stop
  }
  enum Mutation {
    case setRunning(Bool)
    case tick
  }
  struct State {
    var isRunning = false
    var ticks = 0
  }

  let initialState = State()
  private let clock: Observable<Void>

  init(clock: Observable<Void>) { self.clock = clock }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .start:
      let stop = self.action.filter { $0 == .stop }
      return .concat(.just(.setRunning(true)), clock.map { .tick }.take(until: stop))
    case .stop:
      return .just(.setRunning(false))
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setRunning(let isRunning): state.isRunning = isRunning
    case .tick: state.ticks += 1
    }
    return state
  }
}

/// A chat: messages are sent one after the other, and the connection is made again when it fails.
class ChatReactor: Reactor {
  enum Action {
    case connect
    case send(String)
  }
  enum Mutation { case append(String) }
  typealias State = [String]

  let initialState: [String] = []
  private let connection: Observable<String>
  private let reconnect: Observable<Void>
  private let outbox = PublishRelay<String>()
  private let deliver: (String) -> Single<String>

  init(
    connection: Observable<String>, reconnect: Observable<Void>,
    deliver: @escaping (String) -> Single<String>
  ) {
    self.connection = connection
    self.reconnect = reconnect
    self.deliver = deliver
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .connect:
      return
        connection
        .retry(when: { errors in errors.flatMapLatest { _ in self.reconnect.take(1) } })
        .map(Mutation.append)
    case .send(let text):
      outbox.accept(text)
      return .empty()
    }
  }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    let sent = outbox.concatMap { [unowned self] in self.deliver($0).catchAndReturn("(not sent)") }
    return .merge(mutation, sent.map(Mutation.append))
  }

  func reduce(state: State, mutation: Mutation) -> State {
    switch mutation {
    case .append(let text): state + [text]
    }
  }
}

/// A cart: prices come from a stream, quantities from actions.
class CartReactor: Reactor {
  enum Action {
    case add(Int)
    case checkout
  }
  enum Mutation {
    case setCount(Int)
    case setPrice(Int)
    case alert(String)
  }
  struct State {
    var count = 0
    var price = 0
    @Pulse var alert: String?
    var total: Int { count * price }
  }

  let initialState = State()
  private let price: Observable<Int>

  init(price: Observable<Int>) { self.price = price }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    Observable.merge(mutation, price.distinctUntilChanged().map(Mutation.setPrice))
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .add(let number):
      return Observable.just(number).map { [weak self] in .setCount((self?.currentState.count ?? 0) + $0) }
    case .checkout:
      return Observable.just(()).withLatestFrom(state.map(\.total)).map { .alert("pay \($0)") }
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setCount(let count): state.count = count
    case .setPrice(let price): state.price = price
    case .alert(let text): state.alert = text
    }
    return state
  }
}

/// Uploads: each file reports its progress, and the last one ends the upload.
class UploadReactor: Reactor {
  enum Action {
    case upload([String])
    case cancel
  }
  enum Mutation {
    case progress(String, Int)
    case finished
  }
  struct State {
    var progress: [String: Int] = [:]
    var isFinished = false
  }

  let initialState = State()
  private let transfer: (String) -> Observable<Int>

  init(transfer: @escaping (String) -> Observable<Int>) { self.transfer = transfer }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .upload(let files):
      let transfers = Observable.from(files).map { [weak self] file in
        (self?.transfer(file) ?? .empty()).map { Mutation.progress(file, $0) }
      }
      return transfers.merge(maxConcurrent: 2)
        .concat(Observable.just(.finished))
        .take(
          until: self.action.filter {
            if case .cancel = $0 { return true } else { return false }
          })
    case .cancel:
      return .just(.finished)
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .progress(let file, let percent): state.progress[file] = percent
    case .finished: state.isFinished = true
    }
    return state
  }
}
