/// A stream, put together from sources and operators.
indirect enum Pipe: Sendable {
  case subject(Int)
  /// This number of elements at the subscription, then completion.
  case known(Int)
  case never
  case failure
  /// This number of elements, one after each period.
  case ticks(Int, every: Int)
  case one(OneStreamOperator, Pipe)
  case two(TwoStreamOperator, Pipe, Pipe)
}

enum OneStreamOperator: Sendable {
  case map, mapThrowing, filter, compactMap, scan, scanInto, distinct, doThrowing, catchAndReturn
  case take(Int)
  case takeWhile(inclusive: Bool)
  case takeUntilFound(inclusive: Bool)
  case skip(Int)
  case skipWhile
  case startWith(Int)
  case retry(Int)
  /// As `retry`, with a stream that says when.
  case retryWhen(Int)
  case reduce
  case takeLast(Int)
  case enumerated
  case share(replay: Int, forever: Bool)
  // Of time.
  case delay(Int)
  case delaySubscription(Int)
  case debounce(Int)
  case throttle(Int, latest: Bool)
  case timeout(Int)
}

enum TwoStreamOperator: CaseIterable, Sendable {
  case merge, concat, combineLatest, combineLatestOfAList, withLatestFrom, takeUntil, skipUntil, `catch`
  case zip, zipOfAList
  /// A stream of the two streams.
  case concatOfStreams, switchOfStreams
  /// The elements of the first stream become streams, one of which is the second stream.
  case flatMap, flatMapFirst, flatMapLatest, concatMap
  /// The same, and at most two of them run at the same time.
  case mergeTwo
}

/// The closures of the operators, for the subject and the reference.
enum PipeFunction {
  static func map(_ value: Int) -> Int { (value * 3 + 1) & 63 }
  static func isChosen(_ value: Int) -> Bool { value % 3 != 0 }
  static func fails(_ value: Int) -> Bool { value % 11 == 10 }
  static func combine(_ first: Int, _ second: Int) -> Int { (first * 5 + second) & 63 }

  enum Inner { case second, same, nothing, failure, thrown }

  static func inner(_ value: Int) -> Inner {
    switch value % 8 {
    case 0: .nothing
    case 1, 2: .same
    case 3: value > 55 ? .failure : .second
    case 4: value > 55 ? .thrown : .second
    default: .second
    }
  }
}

/// The operators that may still be added to a pipe.
struct PipeBudget {
  /// At most one operator with timers, since the effects of two of them at the same time may come in either order.
  var mayTakeTime = true
  /// At most a few of these, since each multiplies the work.
  var flatMaps = 2
}

extension FuzzInput {
  /// - Parameter depth: The most operators that depend on one another.
  mutating func pipe(depth: Int, _ budget: inout PipeBudget) -> Pipe {
    let byte = Int(byte())
    if depth == 0 || byte % 8 == 0 { return source(byte / 8, &budget) }
    if byte % 8 < 5 {
      return .one(oneStreamOperator(byte / 8, &budget), pipe(depth: depth - 1, &budget))
    }
    let first = pipe(depth: depth - 1, &budget)
    var budgetOfSecond = PipeBudget(mayTakeTime: false, flatMaps: budget.flatMaps)
    let second = pipe(depth: depth - 1, &budgetOfSecond)
    budget.flatMaps = budgetOfSecond.flatMaps
    return .two(twoStreamOperator(byte / 8, &budget), first, second)
  }

  private mutating func twoStreamOperator(_ choice: Int, _ budget: inout PipeBudget) -> TwoStreamOperator {
    let operators = TwoStreamOperator.allCases
    let kind = operators[choice % operators.count]
    switch kind {
    case .flatMap, .flatMapFirst, .flatMapLatest, .concatMap, .mergeTwo:
      if budget.flatMaps == 0 { return .merge }
      budget.flatMaps -= 1
      return kind
    default: return kind
    }
  }

  private mutating func source(_ choice: Int, _ budget: inout PipeBudget) -> Pipe {
    switch choice % 16 {
    case 0...8: return .subject(choice % 4)
    case 9: return .known(0)
    case 10: return .known(1)
    case 11: return .known(2)
    case 12: return .known(6)
    case 13: return .never
    case 14: return .failure
    default:
      if !budget.mayTakeTime { return .known(3) }
      budget.mayTakeTime = false
      return .ticks(1 + below(3), every: 1 + below(4))
    }
  }

  private mutating func oneStreamOperator(_ choice: Int, _ budget: inout PipeBudget) -> OneStreamOperator {
    switch choice {
    case 0: return .map
    case 1: return .enumerated
    case 2: return .mapThrowing
    case 3: return .filter
    case 4: return .compactMap
    case 5: return .scan
    case 6: return .scanInto
    case 7: return .distinct
    case 8: return .doThrowing
    case 9: return .catchAndReturn
    case 10: return .reduce
    case 11: return .takeLast(below(4))
    case 12: return .take(below(5))
    case 13: return .takeWhile(inclusive: false)
    case 14: return .takeWhile(inclusive: true)
    case 15: return .takeUntilFound(inclusive: true)
    case 16: return .skip(below(4))
    case 17: return .skipWhile
    case 18: return .startWith(1 + below(4))
    case 19:
      let count = below(8)
      return count < 4 ? .retry(count) : .retryWhen(count - 3)
    case 20, 21, 22: return .share(replay: choice - 20, forever: false)
    case 23, 24: return .share(replay: choice - 22, forever: true)
    default:
      guard budget.mayTakeTime else { return .takeUntilFound(inclusive: false) }
      budget.mayTakeTime = false
      return timeOperator(choice)
    }
  }

  private mutating func timeOperator(_ choice: Int) -> OneStreamOperator {
    let time = 1 + below(5)
    switch choice {
    case 25: return .delaySubscription(time)
    case 26: return .delay(time)
    case 27: return .debounce(time)
    case 28, 29: return .throttle(time, latest: choice == 28)
    default: return .timeout(time)
    }
  }
}

extension Pipe: CustomStringConvertible {
  var description: String {
    switch self {
    case .subject(let number): "subject\(number)"
    case .known(let count): "known(\(count))"
    case .never: "never"
    case .failure: "error"
    case .ticks(let count, let period): "ticks(\(count), every: \(period))"
    case .one(let kind, let source): "\(source).\(kind)"
    case .two(let kind, let first, let second): "\(first).\(kind)(\(second))"
    }
  }
}
