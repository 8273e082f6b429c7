/// Makes plain streams of pipes.
struct ReferenceMaker {
  let subjects: [ReferenceSubject]
  let clock: ReferenceClock

  func stream(_ pipe: Pipe) -> ReferenceStream {
    switch pipe {
    case .subject(let number):
      let subject = subjects[number]
      return { subject.subscribe($0) }
    case .known(let count): return known(Array(0..<count))
    case .never: return { _ in {} }
    case .failure: return failure
    case .ticks(let count, let period): return ticks(count, every: period)
    case .one(let kind, let source): return apply(kind, to: stream(source))
    case .two(let kind, let first, let second): return combine(kind, stream(first), stream(second))
    }
  }

  var failure: ReferenceStream { ReferenceSink.stream { $0.on(.error) } }
}

/// The operators of time, written plainly.
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

  func timed(_ kind: OneStreamOperator, _ source: @escaping ReferenceStream) -> ReferenceStream {
    switch kind {
    case .delay(let time): return delay(source, time)
    case .delaySubscription(let time):
      return ReferenceSink.stream { sink in
        sink.own(clock.after(time) { sink.own(source { sink.on($0) }) })
      }
    case .debounce(let time): return debounce(source, time)
    case .throttle(let time, let latest): return throttle(source, time, latest: latest)
    case .timeout(let time): return timeout(source, time)
    default: return source
    }
  }

  private func delay(_ source: @escaping ReferenceStream, _ time: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      sink.own(
        source { event in
          if event == .error { return sink.on(.error) }
          sink.own(clock.after(time) { sink.on(event) })
        })
    }
  }

  private func debounce(_ source: @escaping ReferenceStream, _ time: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var cancel: () -> Void = {}
      var pending: Int?
      sink.own { cancel() }
      sink.own(
        source { event in
          switch event {
          case .next(let element):
            cancel()
            pending = element
            cancel = clock.after(time) {
              pending = nil
              sink.next(element)
            }
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

  /// Then one element, 2, and the good end.
  private func timeout(_ source: @escaping ReferenceStream, _ time: Int) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var cancel: () -> Void = {}
      var end: () -> Void = {}
      sink.own {
        cancel()
        end()
      }
      func startTimer() {
        cancel()
        cancel = clock.after(time) {
          end()
          sink.next(2)
          sink.on(.completed)
        }
      }
      startTimer()
      end = source { event in
        sink.on(event)
        if !sink.isOver { startTimer() }
      }
      if sink.isOver { end() }
    }
  }
}
