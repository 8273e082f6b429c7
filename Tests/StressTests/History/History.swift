/// What producers and a consumer did, with the times of a clock that all of them share.
///
/// The times are those of ``LogicalClock``: each is used once, and if one operation ended before another
/// began then its end is the smaller number.
struct History: Sendable {
  /// One send of an element, or of a batch.
  struct Send: Sendable, Equatable {
    enum Outcome: Sendable { case accepted, full }

    var producer: Int
    /// Of its first element. A producer numbers the elements that were accepted from 0 on.
    var sequence: Int
    var count = 1
    var begin: UInt64
    var end: UInt64
    var outcome = Outcome.accepted
  }

  /// What tells an element from all others.
  struct ElementID: Hashable, Sendable {
    var producer: Int
    var sequence: Int
  }

  /// The consumer got an element. Its slot cannot have been given back before that.
  struct Reception: Sendable, Equatable {
    var element: ElementID
    var time: UInt64
  }

  /// At that time, at the latest, the first `released` elements' slots had been given back.
  struct Release: Sendable, Equatable {
    var time: UInt64
    var released: Int
  }

  /// In any order; but those of one producer in the order in which it did them.
  var sends: [Send] = []
  /// In the order of reception.
  var receptions: [Reception] = []
  /// In the order of time. Needed to judge whether `full` was truthful.
  var releases: [Release] = []
}
