import ReactorCore

/// The reactor of a view that does not declare a property for it. Kept in a table beside the view.
final class ViewBinding: Sendable {
  private struct Fields: Sendable {
    var reactor: (any AnyObject & Sendable)?
    /// Whether a deferred view is ready to be bound.
    var isReady = false
    var isBound = false
  }

  private static let table = AttachmentTable()

  private let fields = SystemMutex(Fields())

  private init() {}

  /// Returns the view's reactor. Any thread.
  static func reactor(of view: some AnyObject) -> (any AnyObject & Sendable)? {
    existing(of: view)?.fields.withLock { $0.reactor }
  }

  /// Sets the view's reactor, and replaces its bag by a new one.
  static func set(_ reactor: (any AnyObject & Sendable)?, of view: some ReactorView) {
    // The old reactor is released after the mutex, because its deinit may use the view.
    var old = reactor
    attached(to: view).fields.withLock { fields in
      swap(&old, &fields.reactor)
      fields.isBound = false
    }
    old = nil
    view.disposeBag = DisposeBag()
    releaseWithBag(of: view)
  }

  /// Marks a deferred view as ready to be bound.
  static func markReady(_ view: some ReactorView) {
    attached(to: view).fields.withLock { $0.isReady = true }
  }

  /// Returns the view's reactor and marks it as bound. Returns nil if the view is not ready, has no reactor, or is
  /// already bound to it.
  static func takeReactorToBind(of view: some AnyObject) -> (any AnyObject & Sendable)? {
    existing(of: view)?.fields.withLock { fields in
      guard fields.isReady, !fields.isBound, let reactor = fields.reactor else { return nil }
      fields.isBound = true
      return reactor
    }
  }

  // The table contains no objects of other types.
  private static func existing(of view: some AnyObject) -> ViewBinding? {
    table.value(of: view, as: ViewBinding.self)
  }

  private static func attached(to view: some AnyObject) -> ViewBinding {
    table.value(of: view, as: ViewBinding.self) { ViewBinding() }
  }

  /// Makes the view's bag remove the table's entry when it is freed. The bag is usually freed with the view; then
  /// the reactor is released at once. If the bag is freed earlier, the view is still alive, and a later sweep of the
  /// table releases the reactor.
  private static func releaseWithBag(of view: some ReactorView) {
    let identity = ObjectIdentifier(view)
    view.disposeBag.insert(Disposables.create { table.removeIfDead(identity) })
  }
}
