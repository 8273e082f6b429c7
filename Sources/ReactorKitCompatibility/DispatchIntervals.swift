import Dispatch
import ReactorRuntime

// RxSwift's intervals are Dispatch's. Here they are a `Duration`, whose `.seconds(1)` and `.milliseconds(500)` are written in
// the same way, and come first where only that is written; these functions take intervals that have Dispatch's type.

/// Returns the same time; as long as a duration can be for `.never`.
func exactDuration(_ interval: DispatchTimeInterval) -> Duration {
  switch interval {
  case .seconds(let count): .seconds(count)
  case .milliseconds(let count): .milliseconds(count)
  case .microseconds(let count): .microseconds(count)
  case .nanoseconds(let count): .nanoseconds(count)
  case .never: .seconds(Int64.max)
  @unknown default: preconditionFailure("an interval that Dispatch did not have")
  }
}

extension ObservableType {
  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func delay(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { delay(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func delaySubscription(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { delaySubscription(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func debounce(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { debounce(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func throttle(
    _ dueTime: DispatchTimeInterval, latest: Bool = true, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { throttle(exactDuration(dueTime), latest: latest, scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func timeout(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { timeout(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func timeout(
    _ dueTime: DispatchTimeInterval, other: some ObservableConvertibleType<Element>,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { timeout(exactDuration(dueTime), other: other, scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func take(
    for duration: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { take(for: exactDuration(duration), scheduler: scheduler) }

  @available(*, deprecated, message: "Use take(for:scheduler:), and a Duration.")
  @_disfavoredOverload
  public func take(
    _ duration: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { take(for: exactDuration(duration), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func skip(
    _ duration: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { skip(exactDuration(duration), scheduler: scheduler) }
}

extension PrimitiveSequenceType {
  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func delay(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> PrimitiveSequence<Trait, Element> { delay(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func delaySubscription(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> PrimitiveSequence<Trait, Element> { delaySubscription(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func timeout(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> PrimitiveSequence<Trait, Element> { timeout(exactDuration(dueTime), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public func timeout(
    _ dueTime: DispatchTimeInterval, other: PrimitiveSequence<Trait, Element>,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> PrimitiveSequence<Trait, Element> {
    timeout(exactDuration(dueTime), other: other, scheduler: scheduler)
  }
}

extension Observable where Element: FixedWidthInteger {
  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public static func interval(
    _ period: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable { interval(exactDuration(period), scheduler: scheduler) }

  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public static func timer(
    _ dueTime: DispatchTimeInterval, period: DispatchTimeInterval? = nil,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable {
    timer(exactDuration(dueTime), period: period.map { exactDuration($0) }, scheduler: scheduler)
  }
}

extension PrimitiveSequence where Trait: ElementTrait, Element: FixedWidthInteger {
  @available(*, deprecated, message: "Use a Duration.")
  @_disfavoredOverload
  public static func timer(
    _ dueTime: DispatchTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Self { timer(exactDuration(dueTime), scheduler: scheduler) }
}
