#if ObservationMacros
  import Testing

  @Suite struct EnumExpansionTests {
    @Test func `an enum asks the states in its cases`() {
      let expansion = Expansion(
        of: """
          @ObservableState
          public enum Screen {
            case none
            case list(List), pair(left: Item, right: Item)
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
      #expect(
        expansion.text == """
          public enum Screen {
            case none
            case list(List), pair(left: Item, right: Item)

            public var _$id: ReactorObservation.ObservableStateID {
              switch self {
              case .none:
                ReactorObservation.ObservableStateID(_case: 0)
              case .list(let value):
                ReactorObservation._$id(of: value, case: 1, of: 3)
              case .pair:
                ReactorObservation.ObservableStateID()
              }
            }

            public mutating func _$adopt(from old: Self?) {
              switch self {
              case .list(var new0):
                if case .list(let old0)? = old {
                  ReactorObservation._$adopt(&new0, from: old0)
                } else {
                  ReactorObservation._$adopt(&new0, from: nil)
                }
                self = .list(new0)
              case .pair(var new0, var new1):
                if case .pair(let old0, let old1)? = old {
                  ReactorObservation._$adopt(&new0, from: old0)
                  ReactorObservation._$adopt(&new1, from: old1)
                } else {
                  ReactorObservation._$adopt(&new0, from: nil)
                  ReactorObservation._$adopt(&new1, from: nil)
                }
                self = .pair(left: new0, right: new1)
              default:
                break
              }
            }

            public func _$announce(changesFrom old: Self) -> Bool {
              var _$hasPulse = false
              switch (self, old) {
              case (.list(let new0), .list(let old0)):
                ReactorObservation._$announce(new0, from: old0, noting: &_$hasPulse)
              case (.pair(let new0, let new1), .pair(let old0, let old1)):
                ReactorObservation._$announce(new0, from: old0, noting: &_$hasPulse)
                ReactorObservation._$announce(new1, from: old1, noting: &_$hasPulse)
              default:
                break
              }
              return _$hasPulse
            }
          }

          extension Screen: ReactorObservation.ObservableState {
          }

          extension Screen: ReactorObservation._$Observable {
          }
          """)
    }

    @Test func `an enum without values has nothing to announce`() {
      let expansion = Expansion(of: "@ObservableState enum Kind {\n  case one, two\n}")
      #expect(expansion.text.contains("case .two:\n      ReactorObservation.ObservableStateID(_case: 1)"))
      #expect(!expansion.text.contains("default:"))
    }
  }
#endif
