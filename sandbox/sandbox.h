// Start here: running programs that nobody trusts.
//
// A *box* is one sandboxed process tree. The spawner, a small single-threaded process that is forked before anything
// else, builds boxes on request and hands back a Box: descriptors for its life, its end and its freezer. The parts:
//
//   box/policy.h    Policy, Limits, Program: what a box may see, how much it may use, what it runs
//   box/layers.h    which isolation layers exist, which are active, and the three levels made of them
//   box/box.h       Box: freeze, thaw, kill, wait; Outcome: how its program ended
//   box/spawner.h   Spawner (the client's end) and SpawnerMain (the process; spawner_main.cc tells how it works)
//   box/probe.h     what this host can give, for people
//   build/build.h   compile boxes, artifact cache
//   runner/…        the programs inside a box that load a candidate, and the pages by which the judge commands them
#ifndef TOUCHSTONE_SANDBOX_SANDBOX_H_
#define TOUCHSTONE_SANDBOX_SANDBOX_H_

#include "sandbox/box/box.h"
#include "sandbox/box/layers.h"
#include "sandbox/box/policy.h"
#include "sandbox/box/spawner.h"

#endif  // TOUCHSTONE_SANDBOX_SANDBOX_H_
