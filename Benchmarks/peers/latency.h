/* The workloads of one item at a time: there and back, and at fixed times. Both threads poll
 * without a pause. */
#ifndef LATENCY_H
#define LATENCY_H

/* Ticks as nanoseconds, with the 50th and the 99th percentile. */
inline Outcome percentiles(std::vector<uint64_t> &measured, Outcome outcome, double ns_per_tick) {
  if (measured.empty()) return outcome;
  const auto at = [&](double fraction) {
    const auto rank = static_cast<size_t>(fraction * static_cast<double>(measured.size() - 1));
    const auto place = measured.begin() + static_cast<ptrdiff_t>(rank);
    std::nth_element(measured.begin(), place, measured.end());
    return static_cast<double>(*place) * ns_per_tick;
  };
  outcome.p50 = at(0.5);
  outcome.p99 = at(0.99);
  return outcome;
}

template <class Peer> void send_one(Peer &peer, Item item) {
  while (peer.send(0, &item, 1) == 0) sched_yield();
}

template <class Peer> Item receive_one(Peer &peer) {
  Item item;
  for (BusyWait wait; peer.receive(&item, 1) == 0;) wait.wait();
  return item;
}

/* A thread on the CPUs of the producers, and the caller on that of the consumer. */
template <class Body> std::thread start_beside(const Request &request, Body body) {
  std::thread thread([&request, body] {
    if (!request.producer_cpus.empty()) {
      bl_confine(request.producer_cpus.data(), request.producer_cpus.size());
    }
    body();
  });
  if (request.consumer_cpu >= 0) bl_confine(&request.consumer_cpu, 1);
  return thread;
}

template <class Peer> Outcome run_ping_pong(const Request &request) {
  const auto there = std::make_unique<Peer>(1), back = std::make_unique<Peer>(1);
  const Item first = Item(1) << NUMBER_BITS, last = Item(2) << NUMBER_BITS;
  std::thread echo = start_beside(request, [&] {
    for (Item item = 0; item != last;) send_one(*back, item = receive_one(*there));
  });
  std::vector<uint64_t> trips;
  trips.reserve(1 << 20);
  uint64_t misplaced = 0;
  const uint64_t start = now_ns(), until = start + request.duration;
  for (uint64_t number = 0; number % 64 != 0 || now_ns() < until; number++) {
    const uint64_t sent = ticks();
    send_one(*there, first + number);
    if (receive_one(*back) != first + number) misplaced++;
    trips.push_back(ticks() - sent);
  }
  const uint64_t end = now_ns();
  send_one(*there, last);
  const bool is_complete = receive_one(*back) == last;
  echo.join();
  return percentiles(trips, {trips.size(), end - start, misplaced, is_complete, 0, 0},
                     request.ns_per_tick);
}

/* Open loop: an item counts from when it was due, so a stall counts for each item that it delays.
 */
template <class Peer> Outcome run_latency(const Request &request) {
  const auto peer = std::make_unique<Peer>(1);
  const uint64_t count = std::max<uint64_t>(request.duration / LATENCY_INTERVAL_NS, 20);
  const double interval = static_cast<double>(LATENCY_INTERVAL_NS) / request.ns_per_tick;
  const Item first = Item(1) << NUMBER_BITS;
  std::atomic<uint64_t> begin{0};
  std::thread producer = start_beside(request, [&] {
    uint64_t start;
    while ((start = begin.load(std::memory_order_acquire)) == 0) sched_yield();
    for (uint64_t number = 0; number < count; number++) {
      const uint64_t due = start + static_cast<uint64_t>(static_cast<double>(number) * interval);
      while (ticks() < due) {
      }
      send_one(*peer, first + number);
    }
  });
  std::vector<uint64_t> ages(count);
  uint64_t misplaced = 0, sum = 0;
  const uint64_t start_ns = now_ns();
  const uint64_t start = ticks() + static_cast<uint64_t>(10 * interval);
  begin.store(start, std::memory_order_release);
  for (uint64_t number = 0; number < count; number++) {
    const Item item = receive_one(*peer);
    const uint64_t now = ticks();
    const uint64_t due = start + static_cast<uint64_t>(static_cast<double>(number) * interval);
    /* The counters of two cores may differ by a few ticks. */
    ages[number] = now > due ? now - due : 0;
    if (item != first + number) misplaced++;
    sum += item;
  }
  const uint64_t end_ns = now_ns();
  producer.join();
  const bool is_complete = sum == count * first + count * (count - 1) / 2;
  return percentiles(ages, {count, end_ns - start_ns, misplaced, is_complete, 0, 0},
                     request.ns_per_tick);
}

#endif
