import ReactorCore
import Synchronization

/// What a view without properties of its own for it has: its reactor.
final class ViewBinding: Sendable {
  let reactor: (any AnyObject & Sendable)?
  /// Of a deferred view: whether it may be bound.
  let isReady: Bool
  // Relaxed everywhere: a view is used by one thread at a time.
  private let isBound = Atomic(false)

  init(to reactor: (any AnyObject & Sendable)?, isReady: Bool) {
    self.reactor = reactor
    self.isReady = isReady
  }

  /// Whether it was not bound before; it is afterwards.
  func takeTurnToBind() -> Bool { !isBound.exchange(true, ordering: .relaxed) }

  private static let table = AttachmentTable<ViewBinding>()

  static func of(_ view: some AnyObject) -> ViewBinding? { table.value(of: view) }

  /// Gives the view another reactor, or none, and a new bag.
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

  /// From now on the view may be bound.
  static func becomeReady(_ view: some ReactorView) {
    let binding = of(view)
    if binding?.isReady == true { return }
    table.replace(ViewBinding(to: binding?.reactor, isReady: true), of: view)
  }

  /// The bag usually goes away with the view, and then so does the reactor, at once unless look-ups are under
  /// way. If it goes away before, the view is still alive, and the table finds out later by itself.
  private static func endWithBag(of view: some ReactorView) {
    let identity = ObjectIdentifier(view)
    view.disposeBag.insert(Disposables.create { table.sweep(identity) })
  }
}
