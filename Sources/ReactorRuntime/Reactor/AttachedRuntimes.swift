import ReactorCore

/// The runtimes of reactors that store none.
@usableFromInline
let attachedRuntimes = AttachmentTable()

/// Ends the runtime of a reactor that is gone and stored none, and with it the reactor's streams. Any thread. Does nothing for any
/// other reactor: its own runtime ends with it.
@usableFromInline
func removeAttachedRuntime(of reactor: ObjectIdentifier) { attachedRuntimes.removeIfDead(reactor) }
