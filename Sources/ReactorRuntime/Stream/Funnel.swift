/// One subscription whose events come from several threads or sources: it passes them on one at a time, in
/// the order in which they come.
struct Funnel<Element: Sendable>: Sendable {
  private let junction: Junction<Void, Event<Element>, Element>

  init(_ observer: AnyObserver<Element>) {
    junction = Junction(observer, ()) { sink, _, event in sink.on(event) }
  }

  var sink: Sink<Element> { junction.sink }

  /// What ends with the subscription: whatever calls ``on(_:)``.
  var sources: CompositeDisposable { junction.sources }

  /// Passes an event on, or leaves that to the thread that is passing on another. Any thread.
  func on(_ event: Event<Element>) {
    if !sink.isOver { junction.submit(event) }
  }
}
