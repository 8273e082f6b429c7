#include "peer.h"

#include "ours_core.h"

namespace {
/* The ring of CSources/CReactorCore. */
class Ours {
protected:
  rr_ring *ring = ours_ring_create(CAPACITY);

public:
  explicit Ours(unsigned) {}
  ~Ours() { ours_ring_destroy(ring); }
  size_t send(unsigned, const Item *items, size_t count) {
    return ours_ring_send(ring, items, count) ? count : 0;
  }
  size_t receive(Item *items, size_t most) { return ours_ring_receive(ring, items, most); }
};

/* The same ring, whose consumer sleeps while there is nothing, so that each send checks for it. */
class OursParking : public Ours {
  rr_eventcount *ec = ours_sleep_create();

public:
  explicit OursParking(unsigned producers) : Ours(producers) {}
  ~OursParking() { ours_sleep_destroy(ec); }
  size_t send(unsigned producer, const Item *items, size_t count) {
    const size_t done = Ours::send(producer, items, count);
    if (done > 0) wake();
    return done;
  }
  uint32_t prepare() { return ours_sleep_prepare(ec); }
  bool has_items() const { return ours_ring_has_items(ring); }
  void sleep(uint32_t key) { ours_sleep_wait(ec, key); }
  void wake() { ours_sleep_notify(ec); }
};

/* A ring for each producer, which are in no order among each other. Together they have as many
 * slots as another queue, rounded up to a power of two for each: otherwise P producers would have
 * room for P times as many items. */
class OursLanes {
  ours_lanes *lanes;

  static size_t capacity_of_each(unsigned producers) {
    size_t capacity = 1;
    while (capacity * producers < CAPACITY) capacity *= 2;
    return capacity;
  }

public:
  explicit OursLanes(unsigned producers)
      : lanes(ours_lanes_create(producers, capacity_of_each(producers))) {}
  ~OursLanes() { ours_lanes_destroy(lanes); }
  size_t send(unsigned producer, const Item *items, size_t count) {
    return ours_lanes_send(lanes, producer, items, count);
  }
  size_t receive(Item *items, size_t most) { return ours_lanes_receive(lanes, items, most); }
};
PEER(Ours, "ours", true, true, true)
PEER(OursParking, "ours parking", true, true, true)
PEER(OursLanes, "ours lanes", true, false, true)
} // namespace
