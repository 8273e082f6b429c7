import AllocationCounting
import CBenchmarkLimits

extension Instruments {
  /// Calibrates the clocks and checks what can be counted here.
  static func ofThisMachine() -> Instruments {
    let cpus = CPUSet.allowed()
    return Instruments(
      allocations: AllocationCounter(cores: cpus.cpus.count), nanosecondsPerTick: bl_ns_per_tick(),
      cpus: cpus)
  }
}
