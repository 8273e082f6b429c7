#include "one_by_one.h"

#include "ck_core.h"

namespace {
class CkRing {
  ck_core *core = ck_core_create(CAPACITY);

public:
  explicit CkRing(unsigned) {}
  ~CkRing() { ck_core_destroy(core); }
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return ck_core_send(core, item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return ck_core_receive(core, &item); });
  }
};
PEER(CkRing, "ck_ring", true, true, false)
} // namespace
