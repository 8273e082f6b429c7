#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Testing

  /// Pulses that a reader reaches through something else: a state that contains them, or a computed property.
  @Suite struct PulseTests {
    typealias Change = @Sendable (inout State) -> Void

    @ObservableState struct Profile: Sendable {
      var name = ""
      @Pulse var message: String?
      var hasMessage: Bool { message != nil }
    }

    /// Equal to any other one with the same name.
    @ObservableState struct Account: Equatable, Sendable {
      var name = ""
      @Pulse var notice: String?

      static func == (left: Self, right: Self) -> Bool { left.name == right.name }
    }

    @ObservableState enum Page: Sendable {
      case none
      case profile(Profile)
    }

    @ObservableState struct Group: Sendable {
      var profile = Profile()
      var title = ""
    }

    @ObservableState struct State: Sendable {
      var count = 0
      var profile = Profile()
      var selected: Profile?
      var account = Account()
      var optionalAccount: Account? = Account()
      var page = Page.none
      var group = Group()
      @ObservableStateIgnored var cache = 0
      let id = 1
      @Pulse var alert: String?
      var hasAlert: Bool { alert != nil }
      var isSilent: Bool { count == 0 && !hasAlert }
    }

    final class Notices: Reactor {
      let initialState = State()
      let runtime = Runtime<Change, Change, State>()

      func reduce(into state: inout State, mutation: Change) { mutation(&state) }
    }

    let loop: SteppedLoop
    let observed: ObservedReactor<Notices>

    init() throws {
      loop = try SteppedLoop()
      observed = ObservedReactor(reactor: Notices(), on: loop.observation)
      loop.step()
    }

    /// Expects that a change is announced to what has done `read`, or that it is not.
    func expect(
      _ change: @escaping Change, isAnnounced: Bool = true, to read: () -> Void,
      location: SourceLocation = #_sourceLocation
    ) {
      let tracking = Tracking(read)
      observed.send(change)
      loop.step()
      #expect(tracking.isAnnounced == isAnnounced, sourceLocation: location)
    }

    @Test func `each assignment of a pulse of a nested state is announced`() {
      let read = { _ = observed.profile.message }
      for _ in 1...2 { expect({ $0.profile.message = "a" }, to: read) }
      #expect(observed.profile.message == "a")
      expect({ $0.count += 1 }, isAnnounced: false, to: read)
      expect({ $0.profile.message = nil }, to: { _ = observed.profile.hasMessage })
    }

    @Test func `a pulse of a state that is deeper is announced by all that contain it`() {
      let title = Tracking { _ = observed.count }
      expect({ $0.group.profile.message = "a" }, to: { _ = observed.group.profile.message })
      #expect(!title.isAnnounced)
    }

    @Test func `a pulse of a state in an optional or an enum is announced`() {
      observed.send {
        $0.selected = Profile()
        $0.page = .profile(Profile())
      }
      loop.step()
      expect({ $0.selected?.message = "a" }, to: { _ = observed.selected?.message })
      expect(
        {
          guard case .profile(var profile) = $0.page else { return }
          profile.message = "a"
          $0.page = .profile(profile)
        },
        to: {
          if case .profile(let profile) = observed.page { _ = profile.message }
        })
    }

    @Test func `a state that is assigned as a whole and differs only in its pulse is announced`() {
      expect(
        {
          var profile = $0.profile
          profile.message = "a"
          $0.profile = profile
        }, to: { _ = observed.profile.message })
      #expect(observed.profile.message == "a")
    }

    @Test func `a pulse of a state that is equal to the one before is announced`() {
      let change: Change = { state in
        var account = Account()
        account.notice = "a"
        (state.account, state.optionalAccount) = (account, account)
      }
      let optional = Tracking { _ = observed.optionalAccount?.notice }
      expect(change, to: { _ = observed.account.notice })
      #expect(optional.isAnnounced)
      #expect(observed.account.notice == "a")
    }

    @Test func `a pulse that a computed property reads is announced`() {
      for _ in 1...2 { expect({ $0.alert = "a" }, to: { _ = observed.hasAlert }) }
      expect({ $0.alert = nil }, to: { _ = observed.isSilent })
      expect({ $0.alert = "b" }, to: { _ = observed.summary })
      expect({ $0.alert = "c" }, to: { _ = observed.$alert.valueUpdatedCount })
    }

    @Test func `a pulse is not announced to readers of stored properties, nor these to its readers`() {
      let others = [
        Tracking { _ = observed.count }, Tracking { _ = observed.cache }, Tracking { _ = observed.id },
        Tracking { _ = observed.profile.name },
      ]
      expect({ $0.alert = "a" }, to: { _ = observed.alert })
      #expect(!others.contains { $0.isAnnounced })
      expect({ $0.count += 1 }, isAnnounced: false, to: { _ = (observed.alert, observed.hasAlert) })
    }
  }

  extension PulseTests.State {
    /// Unknown to the macro.
    fileprivate var summary: String { alert ?? "" }
  }
#endif
