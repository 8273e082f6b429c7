// So that `import ReactorKitCompatibility` in place of `import ReactorKit` and `import RxSwift` is the only line that
// changes.
@_exported import ReactorRuntime

/// ReactorKit's `Reactor`: ``ReactorRuntime/ReactorKitReactor`` under the name that ReactorKit's users know.
public typealias Reactor = ReactorKitReactor

/// RxRelay's relay with a value: ``ReactorRuntime/StateRelay`` under the name that RxSwift's users know.
public typealias BehaviorRelay = StateRelay
