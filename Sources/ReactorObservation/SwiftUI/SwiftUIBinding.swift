// Neither built nor tested: the package is for Linux, which has no SwiftUI. An `ObservedReactor` is `Observable`, so a view that
// reads it needs nothing else.
#if canImport(SwiftUI)
  import SwiftUI

  extension SwiftUI.Binding where Value: Sendable {
    /// Creates a binding for a control of SwiftUI: `TextField("Name", text: .init($reactor.name))`.
    ///
    /// - Parameter binding: A binding to a property of a reactor's state.
    public init(_ binding: ReactorObservation.Binding<Value>) {
      self.init(get: { binding.wrappedValue }, set: { binding.wrappedValue = $0 })
    }
  }
#endif
