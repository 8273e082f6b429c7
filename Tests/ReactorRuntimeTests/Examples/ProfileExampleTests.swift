import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// The profile of ReactorKit's README, with an API that responds on another thread.
@Suite struct ProfileExampleTests {
  enum UserAPI {
    /// Responds on a new thread, with an error for user 0.
    static func isFollowing(_ userID: Int) -> Observable<Bool> {
      .create { observer in
        _ = Threads.start {
          if userID == 0 { return observer.onError(NoSuchUser()) }
          observer.onNext(userID % 2 == 0)
          observer.onCompleted()
        }
        return Disposables.create()
      }
    }

    static func follow() -> Observable<Void> {
      Observable<Void>.just(()).observe(on: ConcurrentDispatchQueueScheduler(qos: .userInitiated))
    }
  }

  struct NoSuchUser: Error {}

  final class ProfileViewReactor: ReactorKitReactor {
    enum Action {
      case refreshFollowingStatus(Int)
      case follow(Int)
    }

    enum Mutation {
      case setFollowing(Bool)
    }

    struct State {
      var isFollowing: Bool = false
      var changes = 0
    }

    let initialState: State = State()

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .refreshFollowingStatus(let userID):
        return UserAPI.isFollowing(userID)
          .map { (isFollowing: Bool) -> Mutation in
            return Mutation.setFollowing(isFollowing)
          }
          .catchAndReturn(.setFollowing(false))

      case .follow:
        return UserAPI.follow()
          .map { _ -> Mutation in
            return Mutation.setFollowing(true)
          }
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      var state = state
      state.changes += 1
      switch mutation {
      case .setFollowing(let isFollowing):
        state.isFollowing = isFollowing
        return state
      }
    }
  }

  @Test func `a profile shows the responses of the API`() async {
    let reactor = ProfileViewReactor()
    let states = Recorder(reactor.state.map(\.isFollowing))
    #expect(states.elements == [false])
    let actions: [(ProfileViewReactor.Action, Bool)] = [
      (.follow(1), true), (.refreshFollowingStatus(3), false), (.refreshFollowingStatus(2), true),
      (.refreshFollowingStatus(0), false),
    ]
    for (count, (action, _)) in actions.enumerated() {
      reactor.action.onNext(action)
      #expect(await states.wait(forCount: count + 2, timeout: .seconds(patience)))
    }
    #expect(states.difference(from: [false] + actions.map(\.1)) == nil)
    #expect(reactor.currentState.isFollowing == false)
  }

  @Test func `a thousand responses from as many threads are all reduced`() async {
    let reactor = ProfileViewReactor()
    let states = Recorder(reactor.state)
    for userID in 1...1000 { reactor.action.onNext(.refreshFollowingStatus(userID)) }
    #expect(await states.wait(forCount: 1001, timeout: .seconds(patience)))
    #expect(states.elements.map(\.changes) == Array(0...1000))
    #expect(reactor.currentState.changes == 1000)
  }
}
