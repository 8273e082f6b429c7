import ReactorCore

/// The cores that every test of the core and of the runtime runs on.
///
/// A test is a generic function over the core, called with ``type``.
public enum CoreUnderTest: String, CaseIterable, Codable, Sendable {
  case c
  case swift

  public var type: any Core.Type {
    switch self {
    case .c: CCore.self
    case .swift: PureSwiftCore.self
    }
  }
}
