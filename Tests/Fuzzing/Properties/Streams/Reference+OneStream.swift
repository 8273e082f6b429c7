/// The operators of one stream, written plainly.
extension ReferenceMaker {
  func apply(_ kind: OneStreamOperator, to later: LaterStream) -> ReferenceStream {
    let source = later.stream
    switch kind {
    case .map: return ReferenceSink.lift(source) { sink in { sink.next(PipeFunction.map($0)) } }
    case .mapThrowing, .doThrowing:
      return ReferenceSink.lift(source) { sink in
        { PipeFunction.fails($0) ? sink.on(.error) : sink.next($0) }
      }
    case .filter, .compactMap:
      return ReferenceSink.lift(source) { sink in { if PipeFunction.isChosen($0) { sink.next($0) } } }
    case .scan, .scanInto:
      return ReferenceSink.lift(source) { sink in
        var result = 0
        return {
          result = PipeFunction.combine(result, $0)
          sink.next(result)
        }
      }
    case .distinct:
      return ReferenceSink.lift(source) { sink in
        var last: Int?
        return {
          if last == $0 { return }
          last = $0
          sink.next($0)
        }
      }
    case .catchAndReturn: return followed(source) { $0 == .error ? (known([1]), false) : nil }
    case .retry(let count), .retryWhen(let count): return retry(later, count)
    case .reduce: return collect(source) { [$0.reduce(0, PipeFunction.combine)] }
    case .takeLast(let count): return collect(source) { Array($0.suffix(count)) }
    case .enumerated:
      return ReferenceSink.lift(source) { sink in
        var index = -1
        return {
          index += 1
          sink.next(PipeFunction.combine(index, $0))
        }
      }
    case .take, .takeWhile, .takeUntilFound, .skip, .skipWhile: return part(kind, of: source)
    case .startWith(let count):
      return ReferenceSink.stream { sink in
        for element in 0..<count { sink.next(element) }
        sink.own(source { sink.on($0) })
      }
    case .share(let count, let isForever):
      return ReferenceShare(later, limit: count, isForever: isForever, turns).stream
    case .delay, .delaySubscription, .debounce, .throttle, .timeout: return timed(kind, later)
    }
  }

  private func part(_ kind: OneStreamOperator, of source: @escaping ReferenceStream) -> ReferenceStream {
    switch kind {
    case .take(0): return known([])
    case .take(let count):
      return ReferenceSink.lift(source) { sink in
        var left = count
        return {
          left -= 1
          sink.next($0)
          if left == 0 { sink.on(.completed) }
        }
      }
    case .takeWhile(let isInclusive), .takeUntilFound(let isInclusive):
      return ReferenceSink.lift(source) { sink in
        { element in
          let isLast = !PipeFunction.isChosen(element)
          if !isLast || isInclusive { sink.next(element) }
          if isLast { sink.on(.completed) }
        }
      }
    case .skip(let count):
      return ReferenceSink.lift(source) { sink in
        var left = count
        return { if left == 0 { sink.next($0) } else { left -= 1 } }
      }
    default:
      return ReferenceSink.lift(source) { sink in
        var isSkipping = true
        return {
          isSkipping = isSkipping && PipeFunction.isChosen($0)
          if !isSkipping { sink.next($0) }
        }
      }
    }
  }

  /// Sends what `results` makes of all elements when the source completes.
  private func collect(
    _ source: @escaping ReferenceStream, _ results: @escaping ([Int]) -> [Int]
  ) -> ReferenceStream {
    ReferenceSink.stream { sink in
      var elements: [Int] = []
      sink.own(
        source { event in
          switch event {
          case .next(let element): elements.append(element)
          case .error: sink.on(.error)
          case .completed:
            for result in results(elements) { sink.next(result) }
            sink.on(.completed)
          }
        })
    }
  }

  private func retry(_ source: LaterStream, _ count: Int) -> ReferenceStream {
    if count == 0 { return known([]) }
    return { tell in
      var left = count - 1
      return self.succession(source.stream) { event in
        guard event == .error, left > 0 else { return nil }
        left -= 1
        return source
      }(tell)
    }
  }

  func known(_ elements: [Int]) -> ReferenceStream {
    ReferenceSink.stream { sink in
      for element in elements { sink.next(element) }
      sink.on(.completed)
    }
  }

  /// One stream after the other: the one that `follow` returns comes after a stop event.
  ///
  /// The next one is subscribed to when the subscription to the one before has returned, and was ended if that comes
  /// first.
  func succession(
    _ first: @escaping ReferenceStream, _ follow: @escaping (ReferenceEvent) -> LaterStream?
  ) -> ReferenceStream {
    joined { sink in
      var end: () -> Void = {}
      var isSubscribing = false
      var ending: ReferenceEvent?
      sink.own { end() }
      func goOn(to later: LaterStream) {
        var next: LaterStream? = later
        while let later = next, !sink.isOver {
          isSubscribing = true
          end()
          turns.join(for: later) {
            end = later.stream { event in
              if case .next = event { return sink.on(event) }
              ending = event
              if !isSubscribing, let following = takeSuccessor() { goOn(to: following) }
            }
          }
          isSubscribing = false
          next = takeSuccessor()
        }
        if sink.isOver { end() }
      }
      func takeSuccessor() -> LaterStream? {
        guard let event = ending, !sink.isOver else { return nil }
        ending = nil
        guard let following = follow(event) else {
          sink.on(event)
          return nil
        }
        return following
      }
      goOn(to: (first, false))
    }
  }

  /// One stream, and then the one that `follow` returns for its stop event: that begins inside of the event, before the first one is
  /// ended.
  func followed(
    _ first: @escaping ReferenceStream, _ follow: @escaping (ReferenceEvent) -> LaterStream?
  ) -> ReferenceStream {
    joined { sink in
      var (endFirst, endSecond): (() -> Void, () -> Void) = ({}, {})
      var isFollowed = false
      sink.own {
        endFirst()
        endSecond()
      }
      turns.join(for: (first, false)) {
        endFirst = first { event in
          if case .next = event { return sink.on(event) }
          guard !sink.isOver, !isFollowed else { return }
          isFollowed = true
          guard let later = follow(event) else { return sink.on(event) }
          turns.join(for: later) { endSecond = later.stream { sink.on($0) } }
          if sink.isOver { endSecond() }
          endFirst()
        }
      }
      if isFollowed || sink.isOver { endFirst() }
    }
  }

  func concat(_ first: @escaping ReferenceStream, _ second: LaterStream) -> ReferenceStream {
    { tell in
      var isFirst = true
      return self.succession(first) { event in
        guard event == .completed, isFirst else { return nil }
        isFirst = false
        return second
      }(tell)
    }
  }
}

/// One subscription to the source, for all observers that share it.
final class ReferenceShare {
  private final class Round {
    let subject: ReferenceSubject
    var end: () -> Void = {}
    var isOver = false
    var count = 0

    init(_ subject: ReferenceSubject) { self.subject = subject }
  }

  private let source: LaterStream
  private let limit: Int
  private let lasting: ReferenceSubject?
  private let turns: ReferenceTurns
  private var round: Round?

  init(_ source: LaterStream, limit: Int, isForever: Bool, _ turns: ReferenceTurns) {
    self.source = source
    self.turns = turns
    self.limit = limit
    lasting = isForever ? ReferenceSubject(limit: limit, replaysAfterEnd: true) : nil
  }

  var stream: ReferenceStream {
    ReferenceSink.stream { sink in
      let round =
        self.round ?? Round(self.lasting ?? ReferenceSubject(limit: self.limit, replaysAfterEnd: true))
      self.round = round
      round.count += 1
      let isFirst = round.count == 1
      let end = round.subject.subscribe { sink.on($0) }
      if isFirst, round.subject.stop == nil { self.connect(round) }
      sink.own {
        end()
        self.leave(round)
      }
    }
  }

  private func connect(_ round: Round) {
    guard self.round === round else { return }
    turns.join(for: source) {
      let end = source.stream { event in
        if round.isOver { return }
        if event.isStopEvent {
          // Until a lasting subject has ended, an observer must find this round.
          if self.lasting == nil { self.forget(round) }
          // As in RxSwift, whose usual two forms of `share` are written in another way.
          if self.lasting != nil || self.limit > 1 { round.end() }
        }
        round.subject.on(event)
        if event.isStopEvent { self.forget(round) }
      }
      if round.isOver { end() } else { round.end = end }
    }
  }

  private func forget(_ round: Round) { if self.round === round { self.round = nil } }

  private func leave(_ round: Round) {
    guard self.round === round else { return }
    round.count -= 1
    if round.count > 0 { return }
    self.round = nil
    round.isOver = true
    round.end()
  }
}
