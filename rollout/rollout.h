// Start here: every rollout, kept for replay.
//
//   record.h    what is kept
//   store.h     the store: append durably, find, list
//   selector.h  which rollouts to show again: groups, top-k, contrastive buckets
//   export.h    pairs as JSON lines
#ifndef TOUCHSTONE_ROLLOUT_ROLLOUT_H_
#define TOUCHSTONE_ROLLOUT_ROLLOUT_H_

#include "rollout/export.h"
#include "rollout/record.h"
#include "rollout/selector.h"
#include "rollout/store.h"

#endif  // TOUCHSTONE_ROLLOUT_ROLLOUT_H_
