#if Logging
  public import Logging

  /// What goes wrong as messages of swift-log: with the package trait `Logging`.
  extension Hooks {
    /// Makes a logger of swift-log's the place where everything is reported that was reported nowhere else:
    /// failures and unhandled errors at the level `error`, warnings of debug builds at `warning`. Any thread.
    ///
    /// A runtime that was given an `onFailure` of its own keeps that; see ``Failure/log(to:)``.
    public static func log(to logger: Logger) {
      defaultFailureHandler = Failure.log(to: logger)
      defaultErrorHandler = { error in
        logger.error("a stream failed, and nobody handled that", metadata: ["error": "\(error)"])
      }
      warningHandler = { $0.log(to: logger) }
    }
  }

  extension Failure {
    /// A handler for a ``Runtime`` that logs its failures, at the level `error`. Of one cause and one type of
    /// reactor that is ten a second; of the others, how many there were, once a second.
    public static func log(to logger: Logger) -> @Sendable (Failure) -> Void {
      let limit = RateLimit<Site>(10) { site, count in
        logger.error(
          "as before, \(count) more times within a second: \(site.problem)",
          metadata: ["reactor": "\(site.reactor)", "count": "\(count)"])
      }
      return { failure in
        guard limit.admits(failure.site) else { return }
        var metadata: Logger.Metadata = ["reactor": "\(failure.reactor)", "cause": "\(failure.cause)"]
        if let action = failure.action { metadata["action"] = "\(action)" }
        logger.error("\(failure.site.problem)", metadata: metadata)
      }
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
