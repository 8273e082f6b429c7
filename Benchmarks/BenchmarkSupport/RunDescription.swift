/// The machine that a run's figures belong to.
package struct MachineDescription: Codable, Equatable, Sendable {
  package var cpu: String
  package var cores: Int
  package var kernel: String
  package var architecture: String
  /// Before the run: what others were doing on the machine in the minute before.
  package var loadAverage: Double
  /// Median of all round trips that were probed, nil on one core.
  package var roundTripNanoseconds: Double?

  package init(
    cpu: String, cores: Int, kernel: String, architecture: String, loadAverage: Double,
    roundTripNanoseconds: Double? = nil
  ) {
    self.cpu = cpu
    self.cores = cores
    self.kernel = kernel
    self.architecture = architecture
    self.loadAverage = loadAverage
    self.roundTripNanoseconds = roundTripNanoseconds
  }
}

/// What has to stand beside figures for them to mean anything.
package struct RunDescription: Equatable, Sendable {
  package var machine: MachineDescription
  package var compiler: String
  package var commit: String
  /// How many reactors the cases of many had.
  package var reactors: Int

  package init(machine: MachineDescription, compiler: String, commit: String, reactors: Int) {
    self.machine = machine
    self.compiler = compiler
    self.commit = commit
    self.reactors = reactors
  }
}
