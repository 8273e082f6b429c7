#include <string.h>

#include "CReactorCore.h"
#include "check.h"

/* Each code has a text of its own, and a number that is no code has one too. */
void test_status(void) {
  for (int code = RR_OK; code <= RR_DESCRIPTOR_FAILED; code++) {
    const char *text = rr_status_text((rr_status)code);
    CHECK(text != NULL);
    CHECK(strlen(text) >= 4);
    CHECK(strcmp(text, "unknown status") != 0);
    for (int other = RR_OK; other < code; other++) {
      CHECK(strcmp(text, rr_status_text((rr_status)other)) != 0);
    }
  }
  CHECK(strcmp(rr_status_text((rr_status)(RR_DESCRIPTOR_FAILED + 1)), "unknown status") == 0);
}
