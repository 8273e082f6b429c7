import TestSupport

@testable import ReactorRuntime

extension Record<String> {
  /// Subscribes, and records the result as text.
  func note<Result>(_ single: Single<Result>) -> any Disposable {
    single.subscribe(
      onSuccess: { self.append("success(\($0))") },
      onFailure: { self.append("failure(\($0))") },
      onDisposed: { self.append("disposed") })
  }

  func note<Result>(_ maybe: Maybe<Result>) -> any Disposable {
    maybe.subscribe(
      onSuccess: { self.append("success(\($0))") },
      onError: { self.append("error(\($0))") },
      onCompleted: { self.append("completed") })
  }

  func note(_ completable: Completable) -> any Disposable {
    completable.subscribe(
      onCompleted: { self.append("completed") },
      onError: { self.append("error(\($0))") })
  }
}
