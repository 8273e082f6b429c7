import CBenchmarkLimits

/// Limits that no subject stands for: a C function that does something so many times.
extension Variant {
  static let spsc = Variant.subject("limit", SPSCLimit.self)

  static let fetchAdd = Variant.limit { count, _ in bl_fetch_add_ns(count) }

  static let futexWake = Variant.limit { count, _ in bl_futex_wake_ns(count) }

  static let fetchAddContended = Variant.limit { count, cpus in
    guard cpus.count >= 2 else { return nil }
    return bl_fetch_add_contended_ns(cpus[0], cpus[1], count)
  }

  static let roundTrip = Variant.limit { count, cpus in
    let batches = 20
    let trip = CPUSet(cpus: cpus).roundTrip(batches: batches, batchSize: max(1, Int(count) / batches))
    return trip.map { $0 * Double(count) }
  }

  /// - Parameter run: does it `count` times and returns the nanoseconds, nil or negative if it cannot.
  private static func limit(
    _ run: @escaping @Sendable (_ count: UInt64, _ cpus: [Int32]) -> Double?
  ) -> Variant {
    Variant(name: "limit", hasOrder: false) { _, request, instruments in
      guard let nanoseconds = run(UInt64(request.count), instruments.cpus.cpus), nanoseconds > 0 else {
        throw SubjectFailure("could not be measured here")
      }
      return Measurement(nanoseconds: nanoseconds, actions: request.count)
    }
  }
}
