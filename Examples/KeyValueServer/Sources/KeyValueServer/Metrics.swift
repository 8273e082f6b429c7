import Glibc
import ReactorRuntime

#if JEMALLOC
  import CMalloc
#endif

/// What the memory is used for.
struct MemoryUse {
  /// Bytes in pages of the process that are in memory.
  var resident = 0
  /// Bytes that the program has allocated, and in pages that the allocator uses for them; 0 without jemalloc.
  var allocated = 0
  var active = 0
  #if JEMALLOC
    static let allocator = "jemalloc"
  #else
    static let allocator = "libc"
  #endif

  init() {
    var bytes = [UInt8](repeating: 0, count: 128)
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    let count = Glibc.read(file, &bytes, bytes.count)
    close(file)
    let fields = String(decoding: bytes[..<max(count, 0)], as: UTF8.self).split(separator: " ")
    if fields.count > 1, let pages = Int(fields[1]) { resident = pages * Int(getpagesize()) }
    #if JEMALLOC
      // jemalloc counts anew when this is written.
      var epoch: UInt64 = 1
      mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size)
      allocated = Self.read("stats.allocated")
      active = Self.read("stats.active")
    #endif
  }

  #if JEMALLOC
    private static func read(_ name: String) -> Int {
      var (value, size) = (0, MemoryLayout<Int>.size)
      return mallctl(name, &value, &size, nil, 0) == 0 ? value : 0
    }
  #endif
}

extension Server {
  var clientCount: Int { workers.reduce(0) { $0 + $1.wasClientCount } }
  var commandCount: Int { workers.reduce(0) { $0 + $1.wasCommandCount } }

  /// The counts of all shards; nil if they cannot be read from here.
  func readCounts() -> KeyCounts? {
    let counts = shards.compactMap { $0.readCounts() }
    return counts.count < shards.count ? nil : counts.reduce(KeyCounts(), +)
  }

  /// Lets INFO count from now on. Any thread.
  func resetStatistics() {
    let found = (commands: commandCount, expired: readCounts()?.expired ?? 0)
    statisticsBefore.withLock { $0 = found }
  }

  /// The text of INFO: these sections, or all if none is named. Any thread.
  func info(_ names: [String]) -> String {
    let memory = MemoryUse()
    // Read before what it is subtracted from, which only grows.
    let before = statisticsBefore.withLock { $0 }
    let counts = readCounts()
    let commands = commandCount - before.commands
    let expired = (counts?.expired ?? 0) - before.expired
    let uptime = started.duration(to: .now).components.seconds
    let sections: [(name: String, lines: [String])] = [
      (
        "Server",
        [
          "redis_version:\(Self.redisVersion)", "redis_mode:standalone", "server_name:KeyValueServer",
          "process_id:\(getpid())", "tcp_port:\(port)", "uptime_in_seconds:\(uptime)",
          "threads:\(options.threads)", "shards:\(shards.count)", "shard_kind:\(options.shardName)",
        ]
      ),
      ("Clients", ["connected_clients:\(clientCount)", "maxclients:\(options.mostClients)"]),
      (
        "Memory",
        [
          "used_memory:\(memory.allocated)", "used_memory_rss:\(memory.resident)",
          "allocator_active:\(memory.active)", "mem_allocator:\(MemoryUse.allocator)",
        ]
      ),
      ("Stats", ["total_commands_processed:\(commands)", "expired_keys:\(expired)"]),
      ("Loops", group.loops.map { "\($0.name):\($0.counters)" }),
      (
        "Keyspace",
        (counts?.keys ?? 0) > 0 ? ["db0:keys=\(counts!.keys),expires=\(counts!.timed),avg_ttl=0"] : []
      ),
    ]
    let hasAll = names.isEmpty || names.contains { ["all", "default", "everything"].contains($0) }
    return sections.filter { hasAll || names.contains($0.name.lowercased()) }
      .map { (["# \($0.name)"] + $0.lines).joined(separator: "\r\n") + "\r\n" }.joined(separator: "\r\n")
  }

  /// The metrics in Prometheus' text format.
  func metrics() -> String {
    let memory = MemoryUse()
    var lines: [String] = []
    func add(_ name: String, _ kind: String, _ values: [(labels: String, value: Int)]) {
      lines.append("# TYPE kv_\(name) \(kind)")
      for (labels, value) in values { lines.append("kv_\(name)\(labels) \(value)") }
    }
    func add(_ name: String, _ kind: String, _ value: Int) { add(name, kind, [("", value)]) }
    add("commands_total", "counter", commandCount)
    add("clients", "gauge", clientCount)
    if let counts = readCounts() {
      add("keys", "gauge", counts.keys)
      add("expired_total", "counter", counts.expired)
    }
    add("resident_bytes", "gauge", memory.resident)
    add("allocated_bytes", "gauge", memory.allocated)
    let loops = group.loops.map(\.counters)
    func each(_ value: (LoopCounters) -> Int) -> [(labels: String, value: Int)] {
      loops.map { ("{loop=\"\($0.name)\"}", value($0)) }
    }
    add("loop_turns_total", "counter", each(\.turns))
    add("loop_actions_total", "counter", each(\.actions))
    add("loop_jobs_total", "counter", each(\.jobs))
    add("loop_parks_total", "counter", each(\.parks))
    add("loop_wakes_total", "counter", each(\.wakes))
    return lines.joined(separator: "\n") + "\n"
  }
}
