#if Logging
  public import Logging

  /// Errors, failures and warnings as messages of swift-log. Requires the package trait `Logging`.
  extension Hooks {
    /// Replaces all three handlers with a logger: failures and unhandled errors are logged at the level `error`,
    /// warnings of debug builds at `warning`. Of actions it logs the names of their cases. Any thread.
    ///
    /// A runtime with its own `onFailure` is not affected; pass it ``Failure/log(to:describing:)``.
    public static func log(to logger: Logger) {
      defaultFailureHandler = Failure.log(to: logger)
      defaultErrorHandler = { error in
        logger.error("a stream failed, and nothing handled its error", metadata: ["error": "\(error)"])
      }
      warningHandler = { $0.log(to: logger) }
    }
  }

  extension Failure {
    /// Returns a handler for the `onFailure` of a ``Runtime``, which logs failures at the level `error`. For each
    /// cause and type of reactor it logs ten failures a second; it counts further ones, and logs their number once
    /// a second. Until a second has brought no more than ten, it logs only their number. Make one handler for all reactors of a
    /// type: each handler counts for itself.
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - describe: Returns what is logged of an action, or nil for nothing. By default that is its case without the associated values, or
    ///     the name of its type if it is no `enum`, or has a description of its own: these may have what must not be in a log, and any size.
    ///     Called on the thread that reports the failure.
    public static func log(
      to logger: Logger,
      describing describe: @escaping @Sendable (any Sendable) -> String? = { Failure.name(of: $0) }
    ) -> @Sendable (Failure) -> Void {
      let limit = RateLimit<Site>(10) { site, count in
        logger.error(
          "\(count) more times within a second: \(site.problem)",
          metadata: ["reactor": "\(site.reactor)", "count": "\(count)"])
      }
      return { failure in
        guard limit.admit(failure.site) else { return }
        var metadata: Logger.Metadata = ["reactor": "\(failure.reactor)", "cause": "\(failure.cause)"]
        if let text = failure.action.flatMap(describe) { metadata["action"] = "\(text)" }
        logger.error("\(failure.site.problem)", metadata: metadata)
      }
    }
  }

  extension Failure {
    /// The name of the case of an action; that of its type if it is no `enum`, or says itself how it is described.
    @usableFromInline
    static func name(of action: any Sendable) -> String {
      let mirror = Mirror(reflecting: action)
      let describesItself = action is any CustomReflectable || action is any CustomStringConvertible
      if mirror.displayStyle != .enum || describesItself { return "\(type(of: action))" }
      // One without associated values has no children, and is described by its name.
      return mirror.children.first?.label ?? "\(action)"
    }
  }

  extension Warning {
    fileprivate func log(to logger: Logger) {
      var metadata: Logger.Metadata = [
        "reactor": "\(reactor)", "kind": "\(kind)", "cause": "\(likelyCause)", "remedy": "\(remedy)",
        "count": "\(count)",
      ]
      if let threadName, let threadNumber { metadata["thread"] = "\(threadName) (\(threadNumber))" }
      logger.warning("\(problem)", metadata: metadata)
    }
  }
#endif
