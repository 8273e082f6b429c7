/* All cases, in the order in which they are run. */
#include "model.h"

#define CASES(X)                                                                                   \
  X(litmus_mp)                                                                                     \
  X(litmus_mp_no_release)                                                                          \
  X(litmus_mp_no_acquire)                                                                          \
  X(litmus_mp_fences)                                                                              \
  X(litmus_sequence)                                                                               \
  X(litmus_sequence_broken)                                                                        \
  X(litmus_sb)                                                                                     \
  X(litmus_sb_in_order)                                                                            \
  X(litmus_sb_half)                                                                                \
  X(litmus_sb_fences)                                                                              \
  X(litmus_sb_one_fence)                                                                           \
  X(litmus_sb_asymmetric)                                                                          \
  X(litmus_sb_light)                                                                               \
  X(litmus_coherence)                                                                              \
  X(litmus_stale)                                                                                  \
  X(litmus_iriw_in_order)                                                                          \
  X(litmus_iriw)                                                                                   \
  X(litmus_deadlock)                                                                               \
  X(litmus_livelock)                                                                               \
  X(litmus_race)                                                                                   \
  X(litmus_leaked)                                                                                 \
  X(litmus_freed)                                                                                  \
  X(litmus_freed_early)                                                                            \
  X(litmus_written_late)                                                                           \
  X(litmus_fenced_late)                                                                            \
  X(litmus_barrier_late)                                                                           \
  X(litmus_failed_stale)                                                                           \
  X(litmus_beyond_the_bounds)                                                                      \
  X(ring_wrap)                                                                                     \
  X(ring_two_producers)                                                                            \
  X(ring_one_slot)                                                                                 \
  X(ring_three_producers)                                                                          \
  X(ring_room_for_both)                                                                            \
  X(ring_room_for_one)                                                                             \
  X(ring_room_that_is_known)                                                                       \
  X(ring_batches)                                                                                  \
  X(ring_pairs)                                                                                    \
  X(ring_abandoned)                                                                                \
  X(ring_closing)                                                                                  \
  X(ring_closed_because)                                                                           \
  X(ring_closed_while_growing)                                                                     \
  X(ring_closed_without_memory)                                                                    \
  X(ring_ended_while_growing)                                                                      \
  X(ring_received_while_growing)                                                                   \
  X(ring_full_while_growing)                                                                       \
  X(ring_frozen)                                                                                   \
  X(ring_count)                                                                                    \
  X(overflow_one_producer)                                                                         \
  X(overflow_two_producers)                                                                        \
  X(overflow_grown)                                                                                \
  X(overflow_symmetric)                                                                            \
  X(lanes_wrap)                                                                                    \
  X(lanes_one_slot)                                                                                \
  X(lanes_handed_on)                                                                               \
  X(lanes_registering)                                                                             \
  X(lanes_first_taken)                                                                             \
  X(lanes_without_memory)                                                                          \
  X(lanes_parked)                                                                                  \
  X(ownership_two_senders)                                                                         \
  X(ownership_three_senders)                                                                       \
  X(ownership_symmetric)                                                                           \
  X(ownership_refused)                                                                             \
  X(ownership_claim_and_leave)                                                                     \
  X(ownership_enter_or_go)                                                                         \
  X(ownership_enter_symmetric)                                                                     \
  X(ownership_starting)                                                                            \
  X(ownership_reentrance)                                                                          \
  X(ownership_closing)                                                                             \
  X(ownership_closing_a_turn)                                                                      \
  X(ownership_closing_symmetric)                                                                   \
  X(ownership_loop)                                                                                \
  X(ownership_loop_starting)                                                                       \
  X(ownership_loop_again)                                                                          \
  X(ownership_handed_round)                                                                        \
  X(snapshot_pins)                                                                                 \
  X(snapshot_two_readers)                                                                          \
  X(snapshot_kept)                                                                                 \
  X(snapshot_kept_twice)                                                                           \
  X(snapshot_revoked_on_the_way_in)                                                                \
  X(snapshot_none_forgotten)                                                                       \
  X(snapshot_kept_long)                                                                            \
  X(snapshot_two_keepers)                                                                          \
  X(snapshot_nested)                                                                               \
  X(snapshot_begun)                                                                                \
  X(snapshot_refused)                                                                              \
  X(snapshot_two_owners)                                                                           \
  X(snapshot_starting)                                                                             \
  X(snapshot_forgotten)                                                                            \
  X(waiting_one_producer)                                                                          \
  X(waiting_two_producers)                                                                         \
  X(waiting_three_producers)                                                                       \
  X(waiting_symmetric)                                                                             \
  X(waiting_faults)                                                                                \
  X(waiting_two_sleepers)                                                                          \
  X(waiting_two_notifiers)                                                                         \
  X(waiting_put_off)                                                                               \
  X(fence_setup_symmetric)                                                                         \
  X(fence_setup_asymmetric)

#define DECLARE(name) extern const model_case name;
CASES(DECLARE)

#define POINT(name) &name,
const model_case *const model_cases[] = {CASES(POINT) NULL};
