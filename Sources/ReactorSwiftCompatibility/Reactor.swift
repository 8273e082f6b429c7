/// The types under the name of ReactorSwift's module, for code that writes `Reactor.Subscriber`.
public enum Reactor {
  public typealias State = ReactorSwiftCompatibility.State
  public typealias Event = ReactorSwiftCompatibility.Event
  public typealias Command = ReactorSwiftCompatibility.Command
  public typealias AnyMiddleware = ReactorSwiftCompatibility.AnyMiddleware
  public typealias Middleware = ReactorSwiftCompatibility.Middleware
  public typealias Middlewares = ReactorSwiftCompatibility.Middlewares
  public typealias AnySubscriber = ReactorSwiftCompatibility.AnySubscriber
  public typealias Subscriber = ReactorSwiftCompatibility.Subscriber
  public typealias Subscription = ReactorSwiftCompatibility.Subscription
  public typealias Core = ReactorSwiftCompatibility.Core
}
