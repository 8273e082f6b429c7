// Exported: what these modules declare appears in inlinable code of ReactorCore and of the modules above it, and as
// errors and parameters in its public API.
@_exported import RawCore

#if PureSwiftCore
  @_exported import PureSwiftCore

  /// The core that this build is based on: the pure-Swift twin, since the trait `PureSwiftCore` is on.
  public typealias CurrentCore = SwiftCore
#else
  /// The core that this build is based on: the C core, unless the trait `PureSwiftCore` is on.
  public typealias CurrentCore = CCore
#endif
