import ReactorCore

/// Very many at once: what each costs while it rests, and how fast all are together.
extension Catalogue {
  static let scale: [Case] = [
    Case(
      "scale.idle", .scale(.idle),
      variants: [
        .population("caller", ReactorPopulation<CallerHost>.self),
        .population("group", ReactorPopulation<GroupHost>.self),
        .population("actor", ActorPopulation.self),
        .population("pthread-mutex", PthreadMutexPopulation.self),
      ]),
    Case(
      "scale.busy", .scale(.busy),
      variants: [
        .population("group", ReactorPopulation<GroupHost>.self),
        .population("caller", ReactorPopulation<CallerHost>.self),
        .population("actor", ActorPopulation.self),
        .population("pthread-mutex", PthreadMutexPopulation.self),
      ]),
  ]
}
