import BenchmarkSupport
import ReactorCore

/// What streams cost: one thread sends, and reduces; the variant `just` is the same in all.
extension Catalogue {
  private static let limit = CaseOutline.Limit("limit.fetchadd")

  static let streams: [Case] = [
    Case(
      "stream.send", .synchronous, limit: limit,
      variants: [
        .subject("stored", CallerReactorSubject.self),
        .subject("stored-action", ActionReactorSubject.self),
        .subject("attached", AttachedReactorSubject<Directly>.self),
        .subject("attached-action", AttachedReactorSubject<BySubject>.self),
      ]),
    Case(
      "stream.mutate", .synchronous, limit: limit,
      variants: [
        .subject("just", StreamSubject<Just>.self),
        .subject("of-2", StreamSubject<OfTwo>.self),
        .subject("concat-3-just", StreamSubject<ConcatOfThreeJust>.self),
        .subject("concat-3", StreamSubject<ConcatOfThree>.self),
      ]),
    Case(
      "stream.transform", .synchronous, limit: limit,
      variants: [
        .subject("just", StreamSubject<Just>.self),
        .subject("action", StreamSubject<TransformedAction>.self),
        .subject("mutation", StreamSubject<TransformedMutation>.self),
        .subject("state", StreamSubject<TransformedState>.self),
      ]),
    Case(
      "stream.observe", .synchronous, limit: limit,
      variants: [
        .subject("just", StreamSubject<Just>.self),
        .subject("1-observer", StreamSubject<OneObserver>.self),
        .subject("4-observers", StreamSubject<FourObservers>.self),
        .subject("map-distinct", StreamSubject<MappedDistinct>.self),
        .subject("pulse", StreamSubject<Pulsed>.self),
      ]),
  ]
}
