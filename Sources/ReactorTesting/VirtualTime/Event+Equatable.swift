import ReactorRuntime

/// Elements are compared as such, errors by their types and descriptions.
extension Event: Equatable where Element: Equatable {
  public static func == (left: Event, right: Event) -> Bool {
    switch (left, right) {
    case (.next(let left), .next(let right)): left == right
    case (.error(let left), .error(let right)): type(of: left) == type(of: right) && "\(left)" == "\(right)"
    case (.completed, .completed): true
    default: false
    }
  }
}
