#if ObservationMacros
  /// Lets the properties of a state be observed one by one.
  ///
  /// ```swift
  /// @ObservableState
  /// struct State {
  ///   var count = 0
  ///   var profile = Profile()             // a state itself: its properties are observed, too
  ///   @ObservableStateIgnored var cache: [Int] = []
  ///   @Pulse var message: String?         // announced with each assignment
  /// }
  /// ```
  ///
  /// Each stored property of a struct gets storage beside it, whose name begins with an underscore, and accessors. A read is
  /// noted for the code that is being tracked, such as that in `withObservationTracking`; a change is announced to the code that
  /// has read that property, and to no other. An assignment of an equal value is no change, nor is one of the same object; a
  /// change in place always is. An enum stores nothing: a change of its case is announced by the property that contains it, and
  /// changes inside of its values by these.
  ///
  /// A property with a wrapper other than `@Pulse`, or with `lazy`, `weak` or `unowned`, needs ``ObservableStateIgnored()``.
  ///
  /// - Complexity: A read that is not tracked and a change that nobody has to be told of take a few nanoseconds.
  @attached(
    member, names: named(_$observationRegistrar), named(_$id), named(_$announcesProperties),
    named(_$isStored),
    named(_$access), named(_$adopt), named(_$announce))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableState, _$Observable)
  public macro ObservableState() =
    #externalMacro(module: "ReactorObservationMacros", type: "ObservableStateMacro")

  /// Tracks one property. ``ObservableState()`` attaches it; it is not for other code.
  @attached(accessor, names: named(init), named(get), named(set), named(_modify))
  @attached(peer, names: prefixed(_))
  public macro ObservableStateTracked() =
    #externalMacro(module: "ReactorObservationMacros", type: "ObservableStateTrackedMacro")

  /// Keeps a stored property of an ``ObservableState()`` from being observed. It is stored and read as without that macro.
  @attached(accessor, names: named(willSet))
  public macro ObservableStateIgnored() =
    #externalMacro(module: "ReactorObservationMacros", type: "ObservableStateIgnoredMacro")
#else
  /// Not available: see the message.
  @available(
    *, unavailable,
    message:
      "@ObservableState needs a toolchain that contains SwiftSyntax (usr/lib/swift/host), or the package trait SwiftSyntax of swift-reactor-runtime"
  )
  @attached(member)
  public macro ObservableState() =
    #externalMacro(module: "ReactorObservationMacros", type: "ObservableStateMacro")

  /// Not available: see the message.
  @available(
    *, unavailable,
    message:
      "@ObservableStateIgnored needs a toolchain that contains SwiftSyntax (usr/lib/swift/host), or the package trait SwiftSyntax of swift-reactor-runtime"
  )
  @attached(accessor, names: named(willSet))
  public macro ObservableStateIgnored() =
    #externalMacro(module: "ReactorObservationMacros", type: "ObservableStateIgnoredMacro")
#endif
