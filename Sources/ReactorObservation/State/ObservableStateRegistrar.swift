import Observation
import ReactorCore
import ReactorRuntime
import Synchronization

/// What a state that the macro ``ObservableState()`` is attached to knows of its readers and changes.
///
/// Copies of a state share their readers: a change of any copy is announced to those that have read any other. But an
/// ``ObservedReactor`` gives the states that it shows readers of their own. From then on the reactor's own copies of the state that
/// it began with, such as `currentState`, are not observed.
///
/// Any thread may read a state; a change needs exclusive access to it, as with any value. Observers are called on the thread
/// that makes the change; but not inside of `reduce` of a reactor whose `state` has observers.
///
/// They are called inside of the change, which still has that exclusive access: an observer must not read the variable that
/// contains the state, nor `currentState` of a reactor whose `reduce` makes the change. It reads later, as ``ReactorObserving``
/// does. What an ``ObservedReactor`` shows may be read at once: its observers are called after the state was replaced.
public struct ObservableStateRegistrar: Sendable {
  @usableFromInline var id = ObservableStateID()
  @usableFromInline private(set) var readers: StateReaders

  /// Creates what a new state needs: an identity, and nobody who has read it.
  public init() { readers = StateReaders(isShown: false) }

  /// The identity of the state.
  @inlinable
  public var _$id: ObservableStateID { id }

  /// Notes that the code that is being tracked, if any, reads a property.
  ///
  /// - Parameters:
  ///   - subject: The state.
  ///   - keyPath: The property.
  @inlinable
  public func access<Subject: _$Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    readers.access(subject, keyPath)
  }

  /// Whether two key paths lead to the same property.
  ///
  /// - Parameters:
  ///   - one: The one.
  ///   - other: The other.
  @inlinable
  public static func _$isSame<Subject>(_ one: PartialKeyPath<Subject>, _ other: PartialKeyPath<Subject>)
    -> Bool
  {
    one == other
  }

  /// Announces that a property is about to change.
  ///
  /// - Parameters:
  ///   - subject: The state.
  ///   - keyPath: The property.
  @inlinable
  public func willSet<Subject: _$Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    readers.registrar.willSet(subject, keyPath: keyPath)
  }

  /// Announces that a property has changed.
  ///
  /// - Parameters:
  ///   - subject: The state.
  ///   - keyPath: The property.
  @inlinable
  public func didSet<Subject: _$Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    readers.registrar.didSet(subject, keyPath: keyPath)
  }

  /// Gives the change that begins its number.
  ///
  /// - Parameter version: That of the property that changes.
  /// - Returns: Whether the change must be announced at once.
  @inlinable
  public mutating func _$willChange(_ version: inout UInt64) -> Bool {
    let number = readers.nextVersion()
    version = number
    id.version = number
    return readers.mustAnnounce
  }

  /// Announces a change that is already visible.
  ///
  /// - Parameters:
  ///   - subject: The state.
  ///   - keyPath: The property.
  @inlinable
  public func _$announce<Subject: _$Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>)
  {
    readers.registrar.willSet(subject, keyPath: keyPath)
    readers.registrar.didSet(subject, keyPath: keyPath)
  }

  /// Takes over the readers of another state, or gets readers of its own, to whom nothing is announced but what is shown to
  /// them.
  ///
  /// A state that adopts from itself is the first one of an ``ObservedReactor``. From then on the reactor's own copies of it
  /// announce nothing: what becomes of them is shown elsewhere. States that come into the reactor later are not known to be its
  /// own: a form may have sent a value that it goes on changing, and that it observes. This only marks the readers: the first
  /// state gets its own when it adopts from nil afterwards.
  ///
  /// - Parameter old: The registrar of the state that this one's replaces.
  public mutating func _$adopt(from old: ObservableStateRegistrar?) {
    if let old, old.readers === readers {
      // The readers of a value that is shown still observe that. It came back to the place where it is shown, or it is a part of
      // the first state of another `ObservedReactor`.
      if !readers.isShown { readers.isShownElsewhere.store(true, ordering: .relaxed) }
    } else {
      readers = old?.readers ?? StateReaders(isShown: true)
    }
  }
}

// The registrar is no part of the value: two states are equal if their properties are.
extension ObservableStateRegistrar: Hashable, Codable {
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { true }

  @inlinable
  public func hash(into hasher: inout Hasher) {}

  public init(from decoder: any Decoder) throws { self.init() }

  public func encode(to encoder: any Encoder) throws {}
}

// A state that is printed shows its properties, and no numbers of lineages and changes.
extension ObservableStateRegistrar: CustomReflectable {
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Which properties may differ between two states.
@frozen
public struct ObservableStateChanges {
  @usableFromInline let isOneLineage: Bool

  /// Creates the comparison of two states.
  ///
  /// - Parameters:
  ///   - new: The registrar of the one.
  ///   - old: That of the other.
  @inlinable
  public init(_ new: ObservableStateRegistrar, from old: ObservableStateRegistrar) {
    isOneLineage = new.id.lineage == old.id.lineage
  }

  /// Whether a property may differ. Between states that were made separately, the numbers of changes mean nothing.
  ///
  /// - Parameters:
  ///   - new: The number of the change that made the property of the one.
  ///   - old: That of the other.
  @inlinable
  public func contains(_ new: UInt64, _ old: UInt64) -> Bool { !isOneLineage || new != old }

  /// Whether a pulse may have been assigned. The pulses of states that were made or changed separately may have equal counts.
  ///
  /// - Parameters:
  ///   - new: The pulse of the one.
  ///   - old: That of the other.
  @inlinable
  public func contains<Value>(_ new: Pulse<Value>, _ old: Pulse<Value>) -> Bool {
    !isOneLineage || new.valueUpdatedCount != old.valueUpdatedCount
  }

  /// Whether a pulse was assigned, or has another value.
  ///
  /// - Parameters:
  ///   - new: The pulse of the one.
  ///   - old: That of the other.
  @inlinable
  public func contains<Value: Equatable>(_ new: Pulse<Value>, _ old: Pulse<Value>) -> Bool {
    new.valueUpdatedCount != old.valueUpdatedCount || new.value != old.value
  }
}

/// The readers of a state and of its copies.
@usableFromInline
final class StateReaders: Sendable {
  @usableFromInline let registrar = ObservationRegistrar()
  /// The number of the newest change of any copy. Copies may be changed separately, and their changes must have different
  /// numbers. Relaxed: the numbers only have to differ.
  @usableFromInline let lastVersion: Atomic<UInt64>
  /// Whether a property has ever been read. Until then a change need not be announced, which would take a mutex twice. Relaxed:
  /// a reader on another thread than that of the change needs an order of its own in any case, since it reads the state.
  @usableFromInline let wasRead = Atomic(false)
  /// Whether an ``ObservedReactor`` shows what becomes of the state, to readers of its own. Then neither reads nor changes of
  /// the reactor's own copies concern anybody. Relaxed: an announcement that is made in spite of it does no harm.
  @usableFromInline let isShownElsewhere = Atomic(false)

  /// Whether these are the readers of a state that an ``ObservedReactor`` shows.
  @usableFromInline let isShown: Bool

  @usableFromInline init(isShown: Bool) {
    self.isShown = isShown
    // The numbers of what an `ObservedReactor` changes in advance must differ from those of the changes that the reactor makes
    // meanwhile, and from those of other changes in advance: there are about a million for each.
    lastVersion = Atomic(isShown ? 1 << 63 | ObservableStateID().lineage << 20 : 0)
  }

  @inlinable
  func access<Subject: _$Observable, Member>(_ subject: Subject, _ keyPath: KeyPath<Subject, Member>) {
    if isShownElsewhere.load(ordering: .relaxed) { return }
    // Without the check each read would write to a cache line that readers share.
    if !wasRead.load(ordering: .relaxed) { wasRead.store(true, ordering: .relaxed) }
    registrar.access(subject, keyPath: keyPath)
  }

  @inlinable
  func nextVersion() -> UInt64 { lastVersion.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Whether a change must be announced at once.
  ///
  /// Not inside of `reduce` of a reactor whose `state` has observers: what changes there is announced by the property that contains
  /// it, when an ``ObservedReactor`` shows that. The elements of a collection share their readers with those that are shown.
  @inlinable
  var mustAnnounce: Bool {
    wasRead.load(ordering: .relaxed) && !isShownElsewhere.load(ordering: .relaxed) && !TurnMark.isReducing
  }
}
