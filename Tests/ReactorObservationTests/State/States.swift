#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime

  @ObservableState struct Basic: Equatable {
    var count = 0
    var name: String = ""
    var isLoading = false
  }

  @ObservableState struct Inner: Hashable, Sendable {
    var value = 0
    var label = ""
  }

  /// Cannot be compared.
  struct Opaque: Sendable {
    var value = 0
  }

  final class Node: Sendable {}

  @ObservableState struct Outer: Sendable {
    var inner = Inner()
    var optional: Inner?
    var list: [Inner] = []
    var opaque = Opaque()
    var otherOpaque = Opaque()
    var node = Node()
    @ObservableStateIgnored var cache = 0
    let id = 7
    var total: Int { inner.value + cache }
  }

  @ObservableState enum Screen: Sendable {
    case empty
    case item(Inner)
    case pair(left: Inner, right: Inner)
    case number(Int)
  }

  @ObservableState struct Navigation: Sendable {
    var screen = Screen.empty
    var depth = 0
  }

  @ObservableState struct Box<Element> {
    var elements: [Element]
    var limit: Int
    var transform: (Element) -> Element = { $0 }
  }

  @ObservableState struct Conditional {
    #if os(Linux)
      var count = 0
      #if DEBUG || !DEBUG
        @Pulse var message: String?
      #endif
    #elseif os(Windows)
      var handle = 0
    #else
      var other = 0
    #endif
    var name = ""
  }

  public enum Feature {}

  // As users may write it.
  // swift-format-ignore: NoAccessLevelOnExtensionDeclaration
  public extension Feature {
    @ObservableState struct State {
      var count = 0
      var page = Page.first
      public init() {}
    }

    @ObservableState enum Page {
      case first
      case second
    }
  }

  @ObservableState public struct Public {
    public var count = 0
    public private(set) var total = 0
    fileprivate var secret = 0
    var `default` = 0

    public init() {}

    mutating func add(_ number: Int) { total += number }
  }
#endif
