import ReactorCore
import Synchronization

/// The reactor of a view that does not declare a property for it. Kept in a table beside the view.
final class ViewBinding: Sendable {
  let reactor: (any AnyObject & Sendable)?
  /// Whether a deferred view is ready to be bound.
  let isReady: Bool
  // Relaxed everywhere, since one thread at a time uses a view.
  private let isBound = Atomic(false)

  init(to reactor: (any AnyObject & Sendable)?, isReady: Bool) {
    self.reactor = reactor
    self.isReady = isReady
  }

  /// Marks the reactor as bound. Returns false if it was already.
  func tryMarkBound() -> Bool { !isBound.exchange(true, ordering: .relaxed) }

  private static let table = AttachmentTable<ViewBinding>()

  static func of(_ view: some AnyObject) -> ViewBinding? { table.value(of: view) }

  /// Sets the view's reactor, and replaces its bag by a new one.
  static func set(_ reactor: (any AnyObject & Sendable)?, of view: some ReactorView) {
    let isReady = of(view)?.isReady ?? false
    if reactor == nil, !isReady {
      table.detach(from: view)
    } else {
      table.replace(ViewBinding(to: reactor, isReady: isReady), of: view)
    }
    view.disposeBag = DisposeBag()
    endWithBag(of: view)
  }

  /// Marks a deferred view as ready to be bound.
  static func markReady(_ view: some ReactorView) {
    let binding = of(view)
    if binding?.isReady == true { return }
    table.replace(ViewBinding(to: binding?.reactor, isReady: true), of: view)
  }

  /// Makes the view's bag remove the table's entry when it is freed. The bag is usually freed with the view; then
  /// the reactor is released at once, unless other threads are reading the table. If the bag is freed earlier, the
  /// entry stays, because the view is alive, and the table's periodic sweep removes it later.
  private static func endWithBag(of view: some ReactorView) {
    let identity = ObjectIdentifier(view)
    view.disposeBag.insert(Disposables.create { table.sweep(identity) })
  }
}
