import ReactorCore

/// A reactor's telling the observers of `action` what comes next. One object for each reactor; a thread is
/// inside of it (see `ThreadScope`) while it does so.
@usableFromInline
final class Announcement: Sendable {
  /// That which the calling thread is inside of.
  static var current: Announcement? { ThreadScope.innermost(Announcement.self) }
}
