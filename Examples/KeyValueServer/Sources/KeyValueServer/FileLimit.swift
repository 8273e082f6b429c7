import Glibc

/// How many descriptors the process may have open. Each client is one.
enum FileLimit {
  /// Raises the soft limit as far as the hard limit allows, and logs if that is too little for so many clients.
  static func raise(for clients: Int, threads: Int) {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return }
    // Besides clients: the loops' own, the listeners, the journal, the log. No process may have more than a billion.
    let needed = rlim_t(min(clients, 1 << 30) + 32 + 8 * threads)
    if limit.rlim_cur < needed, limit.rlim_cur < limit.rlim_max {
      let before = limit.rlim_cur
      limit.rlim_cur = min(needed, limit.rlim_max)
      if setrlimit(resource, &limit) != 0 { limit.rlim_cur = before }
    }
    if limit.rlim_cur >= needed { return }
    Log.warning(
      "\(clients) clients need \(needed) descriptors, but the limit (ulimit -n) is \(limit.rlim_cur)"
    )
  }
}
