import ReactorCore

/// A reactor and its runtime as streams hold them: not retained.
@usableFromInline
typealias WeakReactor<R: Reactor> = WeakOwner<R, Runtime<R.Action, R.Mutation, R.State>>
