import BenchmarkSupport

/// Very many small subjects, each with a ``ReadState`` of its own. One instance serves one repetition.
protocol Population: AnyObject, Sendable {
  /// Without members, and with room for `count`.
  init(count: Int, cores: Int) throws

  /// Makes them. One thread, before the others.
  func make() throws

  /// Bytes of one member's own object, without what it refers to.
  var objectBytes: Int { get }

  /// Adds the round's number, from 1 on, to each member that the order names. Several threads at once.
  func visit(_ order: VisitingOrder)

  /// Returns when each member has been added to so often.
  func awaitAdditions(_ each: Int, until deadline: UInt64) throws

  /// Calls `body` with the state of each member, when nobody adds any more.
  func readAll(_ body: (ReadState) -> Void)

  /// Lets the members go, and whatever serves them. One thread, after the others.
  func end()
}

extension Population {
  /// Throws unless each member was added to so often.
  func check(_ each: Int, count: Int) throws {
    var (members, wrong) = (0, 0)
    readAll { state in
      members += 1
      if state.count != UInt64(each) || !state.isWhole { wrong += 1 }
    }
    guard members == count, wrong == 0 else {
      throw SubjectFailure("\(wrong) of \(members) members have not had \(each) actions each")
    }
  }
}
