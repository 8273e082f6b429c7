extension [UInt8] {
  /// Whether a process has printed this text: what an exit test observes of its standard error.
  public func says(_ text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
