import ReactorCore
import Synchronization

/// One subscription of known elements that take turns with other streams: its next element waits in the thread's
/// ``EmissionQueue``.
@usableFromInline
final class KnownEmission<Element: Sendable>: Emission, Disposable, @unchecked Sendable {
  // Unchecked: only the thread in whose queue this waits uses `index`; the rest is constant. For the same reason there is no
  // check of exclusive access.
  private let elements: Observable<Element>
  private let observer: AnyObserver<Element>
  /// What the subscribing thread was inside of. The elements belong to the element that caused the subscription.
  private let scopes: [PassedScope]
  @exclusivity(unchecked) private var index = 0
  private let isDisposed = Atomic(false)

  private init(_ elements: Observable<Element>, _ observer: AnyObserver<Element>) {
    self.elements = elements
    self.observer = observer
    scopes = ThreadScope.objects(PassedScope.self)
    super.init()
    // The elements pass later, when the element that caused the subscription has passed.
    for scope in scopes { scope.retainSignal() }
  }

  deinit { for scope in scopes { scope.releaseSignal() } }

  /// Appends the first element to the open queue.
  ///
  /// - Returns: A disposable that ends the subscription, on any thread.
  @usableFromInline
  static func append(_ elements: Observable<Element>, _ observer: AnyObserver<Element>) -> any Disposable {
    let emission = KnownEmission(elements, observer)
    EmissionQueue.append(emission)
    return emission
  }

  @usableFromInline
  override func emit() {
    if scopes.isEmpty { emitNext() } else { PassedScope.enter(scopes[...]) { emitNext() } }
  }

  private func emitNext() {
    // Relaxed, here and below: as `Disposable.dispose()` says, a delivery that has begun may still be running.
    if isDisposed.load(ordering: .relaxed) { return }
    guard let element = elements.element(at: index) else { return observer.on(.completed) }
    index += 1
    observer.on(.next(element))
    if !isDisposed.load(ordering: .relaxed) { EmissionQueue.append(self) }
  }

  @usableFromInline
  func dispose() { isDisposed.store(true, ordering: .relaxed) }
}
