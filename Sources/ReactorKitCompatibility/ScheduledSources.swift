import ReactorRuntime

// RxSwift's streams of known elements that are delivered by a scheduler.

extension Observable {
  /// Returns a stream of one element, which a scheduler delivers.
  public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Observable {
    just(element).subscribe(on: scheduler)
  }

  /// Returns a stream of the elements in order, which one action of a scheduler delivers.
  public static func of(_ elements: Element..., scheduler: any ImmediateSchedulerType) -> Observable {
    from(elements).subscribe(on: scheduler)
  }

  /// Returns a stream of the elements of a sequence in order, which one action of a scheduler delivers.
  public static func from(
    _ elements: some Sequence<Element>, scheduler: any ImmediateSchedulerType
  ) -> Observable { from(elements).subscribe(on: scheduler) }

  /// Returns a stream of the element, if it is not nil, which a scheduler delivers.
  public static func from(
    optional element: Element?, scheduler: any ImmediateSchedulerType
  ) -> Observable { from(optional: element).subscribe(on: scheduler) }
}

extension PrimitiveSequence where Trait == SingleTrait {
  /// Returns a single of an element, which a scheduler delivers.
  public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Single<Element> {
    Single.just(element).subscribe(on: scheduler)
  }
}

extension PrimitiveSequence where Trait == MaybeTrait {
  /// Returns a maybe of an element, which a scheduler delivers.
  public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Maybe<Element> {
    Maybe.just(element).subscribe(on: scheduler)
  }
}
