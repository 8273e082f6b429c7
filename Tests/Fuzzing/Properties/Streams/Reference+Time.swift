/// Makes reference streams from pipes.
struct ReferenceMaker {
  let subjects: [ReferenceSubject]
  let clock: ReferenceClock
  let turns = ReferenceTurns()

  func stream(_ pipe: Pipe) -> ReferenceStream {
    switch pipe {
    case .subject(let number):
      let subject = subjects[number]
      return { subject.subscribe($0) }
    case .known(let count):
      // As `ObservableMaker`: none and one are emitted at once.
      return count < 2 ? known(Array(0..<count)) : turns.known(Array(0..<count))
    case .never: return { _ in {} }
    case .failure: return failure
    case .ticks(let count, let period): return ticks(count, every: period)
    case .one(let kind, let source): return apply(kind, to: later(source))
    case .two(let kind, let first, let second): return combine(kind, later(first), later(second))
    }
  }

  private func later(_ pipe: Pipe) -> LaterStream {
    if case .subject = pipe { (stream(pipe), true) } else { (stream(pipe), false) }
  }

  /// A stream that subscribes to several others.
  func joined(_ body: @escaping (ReferenceSink) -> Void) -> ReferenceStream {
    ReferenceSink.stream { sink in turns.join { body(sink) } }
  }

  var failure: ReferenceStream { ReferenceSink.stream { $0.on(.error) } }
}

/// The operators with timers, written plainly. As in the library, each subscription has one timer at a time, which
/// starts again when it fires too early. Timers that are due at the same moment fire in the order in which they were
/// started, and streams that share a source make that order visible.
extension ReferenceMaker {
  private func ticks(_ count: Int, every period: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      for index in 0..<count {
        sink.own(
          clock.after(period * (index + 1)) {
            sink.next(index)
            if index == count - 1 { sink.on(.completed) }
          })
      }
    }
  }

  func timed(_ kind: OneStreamOperator, _ later: LaterStream) -> ReferenceStream {
    let source = later.stream
    switch kind {
    case .delay(let time): return delay(source, time)
    case .delaySubscription(let time):
      return ReferenceSink.stream { sink in
        sink.own(clock.after(time) { turns.join(for: later) { sink.own(source { sink.on($0) }) } })
      }
    case .debounce(let time): return debounce(source, time)
    case .throttle(let time, let latest): return throttle(source, time, latest: latest)
    case .timeout(let time): return timeout(source, time)
    default: return source
    }
  }

  private func delay(_ source: @escaping ReferenceStream, _ time: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var waiting: [(due: Int, event: ReferenceEvent)] = []
      func startTimer() {
        guard !sink.isOver, let next = waiting.first else { return }
        sink.own(clock.after(next.due - clock.now) { deliver() })
      }
      func deliver() {
        while !sink.isOver, let next = waiting.first, next.due <= clock.now {
          waiting.removeFirst()
          sink.on(next.event)
        }
        startTimer()
      }
      sink.own(
        source { event in
          if event == .error { return sink.on(.error) }
          waiting.append((clock.now + time, event))
          if waiting.count == 1 { startTimer() }
        })
    }
  }

  private func debounce(_ source: @escaping ReferenceStream, _ time: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var pending: Int?
      var timer: (due: Int, isRunning: Bool) = (0, false)
      func startTimer() {
        timer.isRunning = true
        sink.own(clock.after(timer.due - clock.now) { fire() })
      }
      func fire() {
        if timer.due > clock.now { return startTimer() }
        timer.isRunning = false
        if let element = pending {
          pending = nil
          sink.next(element)
        }
      }
      sink.own(
        source { event in
          switch event {
          case .next(let element):
            pending = element
            timer.due = clock.now + time
            if !timer.isRunning { startTimer() }
          case .error: sink.on(.error)
          case .completed:
            if let pending { sink.next(pending) }
            sink.on(.completed)
          }
        })
    }
  }

  private func throttle(
    _ source: @escaping ReferenceStream, _ time: Int, latest: Bool
  ) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var lastSent: Int?
      var pending: Int?
      var hasCompleted = false
      func send(_ element: Int) {
        lastSent = clock.now
        sink.next(element)
      }
      sink.own(
        source { event in
          switch event {
          case .next(let element):
            let left = lastSent.map { $0 + time - clock.now } ?? 0
            if left <= 0 { return send(element) }
            guard latest else { return }
            if pending == nil {
              sink.own(
                clock.after(left) {
                  if let element = pending { send(element) }
                  pending = nil
                  if hasCompleted { sink.on(.completed) }
                })
            }
            pending = element
          case .error: sink.on(.error)
          case .completed:
            hasCompleted = true
            if pending == nil { sink.on(.completed) }
          }
        })
    }
  }

  /// Then one element, 2, and completion.
  private func timeout(_ source: @escaping ReferenceStream, _ time: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var due = clock.now + time
      var end: () -> Void = {}
      sink.own { end() }
      func startTimer() { sink.own(clock.after(due - clock.now) { fire() }) }
      func fire() {
        if due > clock.now { return startTimer() }
        end()
        sink.next(2)
        sink.on(.completed)
      }
      startTimer()
      end = source { event in
        sink.on(event)
        due = clock.now + time
      }
      if sink.isOver { end() }
    }
  }
}
