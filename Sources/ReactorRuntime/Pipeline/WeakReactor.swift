import ReactorCore

/// A reactor and its runtime as streams hold them: not retained.
@usableFromInline
typealias WeakReactor<C: Core, R: Reactor> = WeakOwner<R, RuntimeOn<C, R.Action, R.Mutation, R.State>>
where R.Backing == C
