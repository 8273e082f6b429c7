import ControlledScheduler

/// The order of a load.
public struct AtomicLoadOrdering: Sendable {
  let order: ctl_order
  public static let relaxed = Self(order: CTL_RELAXED)
  public static let acquiring = Self(order: CTL_ACQUIRE)
  public static let sequentiallyConsistent = Self(order: CTL_SEQ_CST)
}

/// The order of a store. A store that is not sequentially consistent may be late.
public struct AtomicStoreOrdering: Sendable {
  let order: ctl_order
  public static let relaxed = Self(order: CTL_RELAXED)
  public static let releasing = Self(order: CTL_RELEASE)
  public static let sequentiallyConsistent = Self(order: CTL_SEQ_CST)
}

/// The order of a read-modify-write. All are treated alike: see `controlled.h`.
public struct AtomicUpdateOrdering: Sendable {
  let order: ctl_order
  public static let relaxed = Self(order: CTL_RELAXED)
  public static let acquiring = Self(order: CTL_ACQUIRE)
  public static let releasing = Self(order: CTL_RELEASE)
  public static let acquiringAndReleasing = Self(order: CTL_ACQ_REL)
  public static let sequentiallyConsistent = Self(order: CTL_SEQ_CST)
}
