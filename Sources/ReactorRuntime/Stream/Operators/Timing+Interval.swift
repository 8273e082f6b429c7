/// RxSwift's name for what can be counted with.
public typealias RxAbstractInteger = FixedWidthInteger

/// Streams that count.
extension Observable where Element: FixedWidthInteger {
  /// Counts from 0, one element after each period, without an end.
  ///
  /// While the observer is busy with an element, the scheduler's own rule says what becomes of the periods
  /// that it misses: the system's queues make one of them.
  ///
  /// - Parameters:
  ///   - period: The time to the first element, and between two.
  ///   - scheduler: Where elements are delivered.
  public static func interval(
    _ period: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable { timer(period, period: period, scheduler: scheduler) }

  /// 0 after a time, and then completes; or, with a period, counts on without an end.
  ///
  /// - Parameters:
  ///   - dueTime: The time to the first element.
  ///   - period: The time between two; nil for just one element.
  ///   - scheduler: Where elements are delivered.
  public static func timer(
    _ dueTime: RxTimeInterval, period: RxTimeInterval? = nil,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable {
    Observable { observer in
      let sink = Sink(observer)
      guard let period else {
        sink.hold(
          scheduler.schedule(after: dueTime) {
            sink.next(0)
            sink.complete()
          })
        return sink
      }
      // Schedulers do not run the action twice at once; this also orders the runs, on whatever threads they
      // are.
      let counter = StatefulDrain<Element, Void>(0) { number, _ in
        sink.next(number)
        number &+= 1
      }
      sink.hold(
        scheduler.schedulePeriodic(after: dueTime, every: period) { if !sink.isOver { counter.submit(()) } })
      return sink
    }
  }
}
