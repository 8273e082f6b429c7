import ReactorJournal
import ReactorRuntime
import Testing

extension Controlled {
  /// Each rule of the other records, with one that just breaks it.
  @Suite struct RecordTests {
    // MARK: Jobs

    static let violationsOfJobs: [Violation<JobLedger>] = [
      .init("waits at rest", "waits although the loop sleeps") { jobs in
        jobs.submit(1) { _ in }
        jobs.verifyAtRest()
      },
      .init("refused by an open loop", "refused as closed by an open loop") { jobs in
        jobs.submit(1) { _ throws(LoopError) in throw .closed }
      },
      .init("refused though there is room", "job 1 was refused") { jobs in
        jobs.submit(1) { _ throws(LoopError) in throw .full }
      },
      .init("refused though from inside", "although it came from the loop itself") { jobs in
        jobs.willClose()
        jobs.submit(1, isInside: true) { _ throws(LoopError) in throw .closed }
      },
      .init("accepted though closed before", "accepted by a loop that was closed") { jobs in
        jobs.willClose()
        jobs.hasClosed()
        jobs.submit(1) { job in job() }
      },
      .init("run after the end", "runs after the end") { jobs in
        jobs.submit(1) { job in
          jobs.noteEnd()
          job()
        }
      },
      .init("not run before the end", "was accepted, and not run before the end") { jobs in
        jobs.submit(1) { _ in }
        jobs.noteEnd()
      },
      .init("run twice", "job 1 was run 2 times") { jobs in
        jobs.submit(1) { job in
          job()
          job()
        }
      },
      .init("refused and run", "job 1 was run 1 times") { jobs in
        jobs.willClose()
        jobs.submit(1) { job throws(LoopError) in
          job()
          throw .closed
        }
      },
      .init("not returned", "has not returned") { jobs in
        jobs.submit(1) { _ in jobs.verify() }
      },
      .init("leaked", "1 captures of jobs are alive") { jobs in
        jobs.submit(1) { job in
          job()
          withExtendedLifetime(job) { _ = Unmanaged.passRetained(Kept(job)) }
        }
      },
      .init("ended too late", "it has waited for a timer") { $0.noteEnd(after: .seconds(3600)) },
    ]

    @Test(arguments: violationsOfJobs) func `jobs that break a rule fail`(_ violation: Violation<JobLedger>) {
      violation.expectFailure(in: { JobLedger() }, by: { $0.verify() })
    }

    // MARK: Requests

    static let violationsOfRequests: [Violation<RequestLog>] = [
      .init("no outcome", "had 0 outcomes") { $0.begin(1) },
      .init("two outcomes", "had 2 outcomes") { requests in
        requests.process(1, giving: 7)
        for _ in 0..<2 { requests.note(.success(7), of: 1) }
      },
      .init("closed although open", "refused as closed by an open reactor") { requests in
        requests.begin(1)
        requests.note(.failure(.closed), of: 1)
        requests.willClose()
      },
      .init("cancelled by nobody", "cancelled by nobody") { requests in
        requests.willCancel(2)
        requests.begin(1)
        requests.note(.failure(.cancelled), of: 1)
      },
      .init("dropped before it was processed", "before it was processed") { requests in
        requests.willClose()
        requests.begin(1)
        requests.note(.failure(.dropped), of: 1)
      },
      .init("another reply", "which it was not given") { requests in
        requests.process(1, giving: 7)
        requests.note(.success(8), of: 1)
      },
      .init("a reply without a turn", "which it was not given") { requests in
        requests.begin(1)
        requests.note(.success(7), of: 1)
      },
      .init("a lost reply", "was given a reply, and failed: the reply was dropped") { requests in
        requests.process(1, giving: 7)
        requests.note(.failure(.dropped), of: 1)
      },
      .init("a reply lost beside a close", "was given a reply, and failed: the reactor is closed") {
        requests in
        requests.process(1, giving: 7)
        requests.willClose()
        requests.note(.failure(.closed), of: 1)
      },
      .init("refused for another reason", "request 1 failed") { requests in
        requests.begin(1)
        requests.note(.failure(.timedOut), of: 1)
      },
      .init("processed twice", "was processed twice") { requests in
        for _ in 0..<2 { requests.process(1, giving: 7) }
      },
    ]

    @Test(arguments: violationsOfRequests)
    func `requests that break a rule fail`(_ violation: Violation<RequestLog>) {
      violation.expectFailure(in: { RequestLog() }, by: { $0.verify() })
    }

    @Test func `requests that keep all rules pass`() {
      let execution = Schedule(.random).run {
        let requests = RequestLog()
        requests.process(1, giving: 7)
        requests.note(.success(7), of: 1)
        requests.process(2, giving: 8)
        requests.willCancel(2)
        requests.note(.failure(.cancelled), of: 2)
        // Kept, and not used.
        requests.begin(3)
        requests.noteProcessed(3)
        requests.note(.failure(.dropped), of: 3)
        requests.willClose()
        requests.begin(4)
        requests.note(.failure(.closed), of: 4)
        requests.verify()
      }
      #expect(execution.failure == nil)
    }

    // MARK: Requests to a journal

    static let violationsOfBanks: [Violation<Bank>] = [
      .init("no outcome", "request 1 had the outcomes []") { $0.begin(1) },
      .init("closed although open", "refused as closed by an open reactor") { bank in
        bank.begin(1)
        bank.note(.failure(.closed), of: 1)
        bank.ledger.willClose()
      },
      .init("a reply before the commit", "got its reply before the commit") { bank in
        bank.begin(1)
        bank.note(.success(1), of: 1)
      },
      .init("the reply of another request", "request 1 got the reply 2") { bank in
        bank.begin(1)
        bank.note(.success(2), of: 1)
      },
      .init("a lost reply", "request 1 failed: the reply was dropped") { bank in
        bank.process(1)
        bank.note(.failure(.dropped), of: 1)
      },
      .init("processed and refused", "was processed, and refused as closed") { bank in
        bank.process(1)
        bank.ledger.willClose()
        bank.note(.failure(.closed), of: 1)
      },
      .init("failed by a healthy disk", "which the disk does not explain") { bank in
        bank.process(1)
        bank.note(.failure(.failed(JournalError.fenced)), of: 1)
      },
    ]

    @Test(arguments: violationsOfBanks)
    func `requests to a journal that break a rule fail`(_ violation: Violation<Bank>) {
      violation.expectFailure(in: { Bank(Disk()) }, by: { $0.verifyOutcomes() })
    }

    @Test func `a request that a disk lost is explained by its failure only`() {
      for failed in [true, false] {
        let execution = Schedule(.random).run {
          let bank = Bank(Disk())
          bank.process(1)
          bank.note(.failure(.failed(JournalError.fenced)), of: 1)
          bank.verifyOutcomes(failed: failed)
          try? Shutdown.close([bank.journal], before: .now + .seconds(60))
        }
        #expect((execution.failure == nil) == failed, "\(execution.failure ?? "no failure")")
      }
    }
  }
}

/// Something that is never released.
private final class Kept {
  private let job: @Sendable () -> Void

  init(_ job: @escaping @Sendable () -> Void) { self.job = job }
}

extension RequestLog {
  /// A request was processed, and its reply is about to be given.
  fileprivate func process(_ id: Int, giving value: Int) {
    begin(id)
    noteProcessed(id)
    willGive(value, to: id)
  }
}

extension Bank {
  /// A request was processed.
  fileprivate func process(_ id: Int) {
    begin(id)
    ledger.reduce(id)
  }
}
