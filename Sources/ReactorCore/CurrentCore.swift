// Exported: inlinable code of ReactorCore, and of the modules above it, uses declarations of these modules. They also
// appear in the public API, as errors and parameters.
@_exported import RawCore

#if PureSwiftCore
  @_exported import PureSwiftCore

  /// The core of this build: the pure-Swift twin, because the trait `PureSwiftCore` is on.
  public typealias CurrentCore = SwiftCore
#else
  /// The core of this build: the C core, unless the trait `PureSwiftCore` is on.
  public typealias CurrentCore = CCore
#endif
