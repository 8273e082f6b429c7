import ReactorCore
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Random pauses, yields and short sleeps, so that the threads of a scenario meet in different ways.
struct Disturbance: Sendable {
  private(set) var generator: SplitMix64

  init(_ generator: SplitMix64) { self.generator = generator }

  /// Pauses, yields or sleeps now and then; mostly does nothing.
  mutating func step() {
    let choice = generator.next() % 1024
    if choice < 960 { return }
    if choice < 1000 { return CurrentCore.pause(times: Int(truncatingIfNeeded: choice % 32)) }
    if choice < 1022 { return DedicatedThread.yield() }
    usleep(UInt32(truncatingIfNeeded: generator.next() % 100))
  }

  /// Now and then stops for as long as other threads need to fill a small ring.
  mutating func stop() {
    let choice = generator.next() % 128
    if choice == 0 { usleep(UInt32(truncatingIfNeeded: generator.next() % 1000)) }
    if choice < 8 { DedicatedThread.yield() }
  }

  /// To be called by a thread that has nothing to do until another thread makes progress.
  mutating func idle() {
    if generator.happens(onceIn: 4) { CurrentCore.pause(times: 8) } else { DedicatedThread.yield() }
  }

  mutating func below(_ limit: Int) -> Int { generator.below(limit) }

  mutating func happens(onceIn count: UInt64) -> Bool { generator.happens(onceIn: count) }
}
