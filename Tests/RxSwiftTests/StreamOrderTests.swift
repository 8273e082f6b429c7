#if RxSwift
  import Foundation
  import TestSupport
  import Testing

  /// The same pipes, made of this package's streams and of RxSwift's, deliver the same events.
  @Suite struct StreamOrderTests {
    /// How many random pipes are compared: by default what takes a few seconds.
    private static let count =
      ProcessInfo.processInfo.environment["RR_ORDER_PIPES"].flatMap(UInt64.init) ?? 3000

    @Test func `random streams deliver their events in RxSwift's order`() {
      for seed in 0..<Self.count {
        let pipe = OrderPipe.random(seed: seed)
        #expect(comparable(pipe.events, pipe) == comparable(pipe.rxEvents, pipe), "pipe \(seed): \(pipe)")
      }
    }

    @Test(arguments: OrderCase.all)
    func `the events that are written down are RxSwift's`(_ order: OrderCase) {
      #expect(order.pipe.rxEvents.joined(separator: " ") == order.events)
    }

    private func comparable(_ events: [String], _ pipe: OrderPipe) -> [String] {
      pipe.endsAsInRxSwift ? events : events.filter { $0 != "completed" && $0 != "error" }
    }
  }
#endif
