import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// Skips a test that lets an allocation, a futex or membarrier of the core fail, if the core is the pure-Swift twin. The
  /// twin calls the system directly, so FaultyPlatform cannot let its calls fail; and it has no futex and no membarrier.
  static var needsCCore: Self {
    .disabled(if: Build.isPureSwift, "FaultyPlatform cannot let a call of the pure-Swift core fail")
  }
}
