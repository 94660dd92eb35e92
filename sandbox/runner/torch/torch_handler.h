// Runs a task's reference, TorchScript source text, with LibTorch on the CPU.
#ifndef TOUCHSTONE_SANDBOX_RUNNER_TORCH_TORCH_HANDLER_H_
#define TOUCHSTONE_SANDBOX_RUNNER_TORCH_TORCH_HANDLER_H_

#include <memory>

#include "sandbox/runner/serve.h"

namespace touchstone {

// The artifact is the source of `def reference(tensors…, dims…)`. Its arguments are the command's tensors with role
// input or in-out, in order, as views of the block (nothing is copied), then the dims as ints. It changes in-out
// tensors in place and returns the other outputs as one tensor or a tuple.
//
// Run: places hold, for each call, what was returned. Returned tensors live in the arena until the next command.
// Oracle: the same on set order[0] with float64 for every floating argument; the block's inputs are not changed. Places
// hold the in-out tensors first, then what was returned, all in the arena.
// Null: builds the arguments of each call and calls nothing.
//
// At most one handler at a time in a process: they share PyTorch's CPU allocator, which the first replaces.
std::unique_ptr<RunnerHandler> MakeTorchHandler();

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_TORCH_TORCH_HANDLER_H_
