import ReactorRuntime
import TestSupport
import Testing

/// Singles of asynchronous calls, and the results of traits for tasks.
@Suite struct TraitTaskTests {
  @TaskLocal private static var name = "none"

  @Test func `a single makes its call anew for each subscription`() async throws {
    let calls = Record<Int>()
    let single = Single<Int>.create {
      await Task.yield()
      calls.append(0)
      return calls.elements.count
    }
    #expect(calls.elements.isEmpty)
    for call in 1...2 {
      let result = try await single.value
      #expect(result == call)
    }
  }

  @Test func `an error of the call is the failure, even its own cancellation`() async {
    await #expect(throws: TestFailure.self) {
      try await Single<Int>.create { throw TestFailure() }.value
    }
    let record = Record<String>()
    Single<Int>.create { throw CancellationError() }.subscribe(
      onSuccess: { record.append("\($0)") }, onFailure: { record.append("\($0 is CancellationError)") })
    #expect(await eventually { record.elements == ["true"] })
  }

  @Test func `the task of a call has the subscriber's local values unless it is detached`() async throws {
    let names = try await Self.$name.withValue("subscriber") {
      let attached = try await Single<String>.create { Self.name }.value
      let detached = try await Single<String>.create(detached: true) { Self.name }.value
      return [attached, detached]
    }
    #expect(names == ["subscriber", "none"])
  }

  @Test(arguments: [false, true])
  func `the task of a call has the priority that was asked for`(isDetached: Bool) async {
    let record = Record<TaskPriority>()
    let single = Single<Int>.create(detached: isDetached, priority: .background) {
      record.append(Task.basePriority ?? .high)
      return 1
    }
    single.subscribe()
    #expect(await eventually { record.elements == [.background] })
  }

  @Test(arguments: [false, true])
  func `disposal cancels the call of a single, whose result is not delivered`(isDetached: Bool) async {
    let record = Record<String>()
    let began = Gate()
    let ended = Gate()
    let single = Single<Int>.create(detached: isDetached) {
      began.open()
      defer { ended.open() }
      try await Task.sleep(for: .seconds(patience))
      return 1
    }
    let subscription = single.subscribe(
      onSuccess: { record.append("\($0)") }, onFailure: { record.append("\($0)") })
    #expect(await eventually { began.isOpen })
    subscription.dispose()
    #expect(await eventually { ended.isOpen })
    for _ in 0..<10 { await Task.yield() }
    #expect(record.elements == [])
  }

  @Test func `a task gets the value of a maybe, nil, or its error`() async throws {
    let one = try await Maybe.just(1).value
    #expect(one == 1)
    let none = try await Maybe<Int>.empty().value
    #expect(none == nil)
    await #expect(throws: TestFailure.self) { try await Maybe<Int>.error(TestFailure()).value }
  }

  @Test func `a task waits for a completable, and gets its error`() async throws {
    let began = Gate()
    let kept = Record<Completable.CompletableObserver>()
    let completable = Completable.create { observer in
      kept.append(observer)
      began.open()
      return Disposables.create()
    }
    let isOver = Gate()
    let task = Task {
      try await completable.value
      isOver.open()
    }
    #expect(await eventually { began.isOpen })
    for _ in 0..<10 { await Task.yield() }
    #expect(!isOver.isOpen)
    kept.elements[0](.completed)
    try await task.value
    #expect(isOver.isOpen)
    await #expect(throws: TestFailure.self) { try await Completable.error(TestFailure()).value }
  }

  @Test func `a cancelled task gets no result, and its subscription ends`() async {
    let began = Gate(count: 2)
    let ended = Gate(count: 2)
    let maybe = Maybe<Int>.create { _ in
      began.open()
      return Disposables.create { ended.open() }
    }
    let completable = Completable.create { _ in
      began.open()
      return Disposables.create { ended.open() }
    }
    let first = Task { _ = try await maybe.value }
    let second = Task { try await completable.value }
    #expect(await eventually { began.isOpen })
    first.cancel()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(await eventually { ended.isOpen })
  }
}
