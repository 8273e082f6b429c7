/// The operators of two streams, written plainly.
extension ReferenceMaker {
  func combine(
    _ kind: TwoStreamOperator, _ laterFirst: LaterStream, _ laterSecond: LaterStream
  ) -> ReferenceStream {
    let (first, second) = (laterFirst.stream, laterSecond.stream)
    switch kind {
    case .merge: return merge(first, second)
    case .concat: return concat(first, laterSecond)
    case .combineLatest: return combineLatest(first, second, endingBefore: [.error, .completed])
    case .combineLatestOfAList: return combineLatest(first, second, endingBefore: [])
    case .withLatestFrom: return withLatestFrom(first, second)
    case .takeUntil: return takeUntil(first, second)
    case .skipUntil: return skipUntil(first, second)
    case .catch:
      return followed(first) { $0 == .error ? laterSecond : nil }
    case .flatMap: return flatMap(first, laterSecond, isExclusive: false)
    case .flatMapFirst: return flatMap(first, laterSecond, isExclusive: true)
    case .flatMapLatest: return switchLatest(first) { self.inner($0, laterSecond) }
    case .concatMap: return queue(first, limit: 1) { self.inner($0, laterSecond) }
    // The closure of `map` throws before the stream would wait.
    case .mergeTwo: return queue(first, limit: 2) { self.inner($0, laterSecond) }
    case .zip: return zip(first, second, endingBefore: [.error, .completed])
    case .zipOfAList: return zip(first, second, endingBefore: [])
    case .concatOfStreams: return queue(turns.known([0, 1]), limit: 1) { [laterFirst, laterSecond][$0] }
    case .switchOfStreams: return switchLatest(turns.known([0, 1])) { [laterFirst, laterSecond][$0] }
    }
  }

  private func zip(
    _ first: @escaping ReferenceStream, _ second: @escaping ReferenceStream,
    endingBefore events: [ReferenceEvent]
  ) -> ReferenceStream {
    joined { sink in
      var waiting: [[Int]] = [[], []]
      var hasEnded = [false, false]
      for (index, stream) in [first, second].enumerated() where !sink.isOver {
        sink.add(stream, endingBefore: events) { event in
          switch event {
          case .next(let element):
            waiting[index].append(element)
            if !waiting[0].isEmpty, !waiting[1].isEmpty {
              sink.next(PipeFunction.combine(waiting[0].removeFirst(), waiting[1].removeFirst()))
            }
          case .error: return sink.on(.error)
          case .completed: hasEnded[index] = true
          }
          if (0...1).contains(where: { hasEnded[$0] && waiting[$0].isEmpty }) { sink.on(.completed) }
        }
      }
    }
  }

  /// The streams that the elements become, of which at most `limit` run at the same time. `inner` returns nil if it throws.
  private func queue(
    _ source: @escaping ReferenceStream, limit: Int, _ inner: @escaping (Int) -> LaterStream?
  ) -> ReferenceStream {
    joined { sink in
      var waiting: [LaterStream] = []
      var running = 0
      var hasCompleted = false
      func start(_ later: LaterStream) {
        if sink.isOver { return }
        turns.join(for: later) {
          sink.add(later.stream, endingBefore: [.completed]) { event in
            if event != .completed { return sink.on(event) }
            if !waiting.isEmpty {
              let next = waiting.removeFirst()
              // As in RxSwift, by the scheduler of the current thread.
              return self.turns.later { start(next) }
            }
            running -= 1
            if hasCompleted, running == 0 { sink.on(.completed) }
          }
        }
      }
      sink.own(
        source { event in
          switch event {
          case .next(let element):
            if sink.isOver { return }
            guard let stream = inner(element) else { return sink.on(.error) }
            if running == limit { return waiting.append(stream) }
            running += 1
            start(stream)
          case .error: sink.on(.error)
          case .completed:
            hasCompleted = true
            if running == 0 { sink.on(.completed) }
          }
        })
    }
  }

  private func merge(
    _ first: @escaping ReferenceStream, _ second: @escaping ReferenceStream
  ) -> ReferenceStream {
    joined { sink in
      var running = 2
      for stream in [first, second] where !sink.isOver {
        sink.add(stream, endingBefore: [.completed]) { event in
          if event != .completed { return sink.on(event) }
          running -= 1
          if running == 0 { sink.on(.completed) }
        }
      }
    }
  }

  private func combineLatest(
    _ first: @escaping ReferenceStream, _ second: @escaping ReferenceStream,
    endingBefore events: [ReferenceEvent]
  ) -> ReferenceStream {
    joined { sink in
      var latest: [Int?] = [nil, nil]
      var running = 2
      for (index, stream) in [first, second].enumerated() where !sink.isOver {
        sink.add(stream, endingBefore: events) { event in
          switch event {
          case .next(let element):
            latest[index] = element
            if let first = latest[0], let second = latest[1] {
              sink.next(PipeFunction.combine(first, second))
            } else if running == 1 {
              // The other stream has ended without an element.
              sink.on(.completed)
            }
          case .error: sink.on(.error)
          case .completed:
            running -= 1
            if running == 0 { sink.on(.completed) }
          }
        }
      }
    }
  }

  private func withLatestFrom(
    _ first: @escaping ReferenceStream, _ second: @escaping ReferenceStream
  ) -> ReferenceStream {
    joined { sink in
      var latest: Int?
      sink.own(
        second { event in
          if case .next(let element) = event { latest = element } else if event == .error { sink.on(.error) }
        })
      if sink.isOver { return }
      sink.own(
        first { event in
          guard case .next(let element) = event else { return sink.on(event) }
          if let latest { sink.next(PipeFunction.combine(element, latest)) }
        })
    }
  }

  private func takeUntil(
    _ source: @escaping ReferenceStream, _ signal: @escaping ReferenceStream
  ) -> ReferenceStream {
    joined { sink in
      sink.own(
        signal { event in
          switch event {
          case .next: sink.on(.completed)
          case .error: sink.on(.error)
          case .completed: break
          }
        })
      if !sink.isOver { sink.own(source { sink.on($0) }) }
    }
  }

  private func skipUntil(
    _ source: @escaping ReferenceStream, _ signal: @escaping ReferenceStream
  ) -> ReferenceStream {
    joined { sink in
      var isOpen = false
      sink.own(
        source { event in
          if isOpen || event == .error { sink.on(event) } else if event == .completed { sink.dispose() }
        })
      if sink.isOver { return }
      let waiting = ReferenceSink { event in
        switch event {
        case .next: isOpen = true
        case .error: sink.on(.error)
        case .completed: break
        }
      }
      sink.own { waiting.dispose() }
      waiting.own(
        signal { event in
          waiting.on(event)
          if isOpen { waiting.dispose() }
        })
    }
  }

  /// Returns the stream that an element becomes, or nil if the closure throws.
  private func inner(_ element: Int, _ second: LaterStream) -> LaterStream? {
    switch PipeFunction.inner(element) {
    case .second: second
    case .same: (known([element]), false)
    case .nothing: (known([]), false)
    case .failure: (failure, false)
    case .thrown: nil
    }
  }

  private func flatMap(
    _ first: @escaping ReferenceStream, _ second: LaterStream, isExclusive: Bool
  ) -> ReferenceStream {
    joined { sink in
      var running = 1
      func oneEnded() {
        running -= 1
        if running == 0 { sink.on(.completed) }
      }
      sink.own(
        first { event in
          guard case .next(let element) = event else {
            return event == .completed ? oneEnded() : sink.on(event)
          }
          if sink.isOver || isExclusive && running > 1 { return }
          guard let later = self.inner(element, second) else { return sink.on(.error) }
          running += 1
          self.turns.join(for: later) {
            sink.add(later.stream, endingBefore: [.completed]) { $0 == .completed ? oneEnded() : sink.on($0) }
          }
        })
    }
  }

  /// The newest of the streams that the elements become. `inner` returns nil if it throws.
  private func switchLatest(
    _ source: @escaping ReferenceStream, _ inner: @escaping (Int) -> LaterStream?
  ) -> ReferenceStream {
    joined { sink in
      var current = 0
      var isRunning = false
      var hasCompleted = false
      var end: () -> Void = {}
      sink.own { end() }
      sink.own(
        source { event in
          guard case .next(let element) = event else {
            hasCompleted = true
            return event == .error || !isRunning ? sink.on(event) : ()
          }
          if sink.isOver { return }
          guard let later = inner(element) else { return sink.on(.error) }
          current += 1
          let mine = current
          isRunning = true
          end()
          end = {}
          let newest = ReferenceSink { event in
            if mine != current { return }
            if event != .completed { return sink.on(event) }
            isRunning = false
            if hasCompleted { sink.on(.completed) }
          }
          end = { newest.dispose() }
          self.turns.join(for: later) {
            newest.add(later.stream, endingBefore: [.error, .completed]) { newest.on($0) }
            if sink.isOver { newest.dispose() }
          }
        })
    }
  }
}
