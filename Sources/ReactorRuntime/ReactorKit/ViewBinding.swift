import ReactorCore

/// The reactor of a view that has no property for it.
final class ViewBinding: Sendable {
  private struct Fields: Sendable {
    var reactor: (any AnyObject & Sendable)?
    /// Of a deferred view: whether it may be bound.
    var isReady = false
    var isBound = false
  }

  private static let table = AttachmentTable()

  private let fields = SystemMutex(Fields())

  private init() {}

  /// The view's reactor. Any thread.
  static func reactor(of view: some AnyObject) -> (any AnyObject & Sendable)? {
    existing(of: view)?.fields.withLock { $0.reactor }
  }

  /// Gives the view another reactor, or none, and a new bag.
  static func set(_ reactor: (any AnyObject & Sendable)?, of view: some ReactorView) {
    // The old reactor is released here, not under the mutex.
    var old = reactor
    attached(to: view).fields.withLock { fields in
      swap(&old, &fields.reactor)
      fields.isBound = false
    }
    old = nil
    view.disposeBag = DisposeBag()
    releaseWithBag(of: view)
  }

  /// From now on the view may be bound.
  static func becomeReady(_ view: some ReactorView) {
    attached(to: view).fields.withLock { $0.isReady = true }
  }

  /// Returns the view's reactor if the view is ready and was not bound to that reactor; it counts as bound
  /// afterwards.
  static func takeReactorToBind(of view: some AnyObject) -> (any AnyObject & Sendable)? {
    existing(of: view)?.fields.withLock { fields in
      guard fields.isReady, !fields.isBound, let reactor = fields.reactor else { return nil }
      fields.isBound = true
      return reactor
    }
  }

  // Nothing else is in the table.
  private static func existing(of view: some AnyObject) -> ViewBinding? {
    table.value(of: view, as: ViewBinding.self)
  }

  private static func attached(to view: some AnyObject) -> ViewBinding {
    table.value(of: view, as: ViewBinding.self) { ViewBinding() }
  }

  /// The bag usually goes away with the view, and then so does the reactor, at once. If the bag goes away
  /// earlier, the view is still alive, and a later sweep of the table releases the reactor.
  private static func releaseWithBag(of view: some ReactorView) {
    let identity = ObjectIdentifier(view)
    view.disposeBag.insert(Disposables.create { table.removeIfDead(identity) })
  }
}
