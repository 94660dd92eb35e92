#ifndef TOUCHSTONE_REWARD_JUDGE_SIDE_H_
#define TOUCHSTONE_REWARD_JUDGE_SIDE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "reward/judge/device.h"
#include "reward/judge/layout.h"
#include "sandbox/runner/link.h"

namespace touchstone {

// One call: its number, the set it uses, its inputs.
struct CallSlot {
  uint64_t call = 0;
  uint32_t set = 0;
  std::vector<InputStream> inputs;
};

// The sets of some calls, in their order.
std::vector<uint32_t> SetsOf(std::span<const CallSlot> slots);

// How a side's runner is started.
struct SideSpec {
  Policy policy;
  Limits limits;
  Program program;
  bool arena = false;  // the runner places its outputs itself (Torch)
  bool spin = true;    // wait by spinning: needs a core for the judge and one for the side
  int threads = 1;
  size_t block_bytes = 0;
};

// What one command to a runner came to. Times are the judge's.
struct Turn {
  Waited waited = Waited::kDone;
  RunnerAnswer answer;
  double elapsed_us = 0;    // doorbell → tiles arrived
  double handover_us = 0;   // thaw → doorbell: the runner sees its inputs already
  double cpu_us = 0;        // CPU time of the box meanwhile; < 0 unknown
  bool tiles_final = true;  // the tiles that ended the clock are equal to the final bytes
  bool Completed() const { return waited == Waited::kDone && answer.status == RunnerStatus::kOk; }
};

// One side of a comparison: a runner in its box, its block of memory, and the sets in it. The box is frozen whenever it
// is not this side's turn; sets are filled only then. One thread.
class Side {
 public:
  static Result<std::unique_ptr<Side>> Start(Spawner& spawner, Device& device, const SideSpec& spec);

  // Loads an artifact. The box is frozen afterwards.
  Result<Turn> Load(int artifact_fd, std::chrono::microseconds timeout);

  // Declares the sets of the coming turns. Everything that was in the block is void.
  Status SetUp(const SetLayout& layout, uint64_t sets);

  // Frozen: writes the inputs of all calls into their sets, poison into outputs and guards.
  Status Prepare(std::span<const CallSlot> slots, const SecretKey& key);

  // Thaws, pings, rings, waits, reads `tile_count` random tiles, freezes. `sets[i]` is the set of the i-th call.
  Result<Turn> Run(Opcode opcode, std::span<const uint32_t> sets, std::chrono::microseconds timeout,
                   ChoiceStream& choices, size_t tile_count);

  // The place of output `o` of the i-th call of the last turn, checked: inside the block, of the declared shape and
  // dtype (float64 for an oracle). An Error's message is the explanation for an `incorrect`.
  Result<StridedArray> Output(const Turn& turn, std::span<const uint32_t> sets, size_t call, size_t o,
                              bool oracle) const;

  // After a turn, for each call: elements of read-only inputs that were changed; guard bytes that were damaged.
  Result<std::vector<uint64_t>> CountChangedInputs(std::span<const CallSlot> slots) const;
  Result<std::vector<uint64_t>> CountDamagedGuards(std::span<const CallSlot> slots, const SecretKey& key) const;
  // Bytes of output `o` of a call that still are poison.
  Result<uint64_t> CountUnwritten(const CallSlot& slot, size_t o, const SecretKey& key) const;

  const DeviceBlock& block() const { return *block_; }
  const SetLayout& layout() const { return layout_; }
  Box& box() { return link_->box(); }
  const Box& box() const { return link_->box(); }
  // Whether the runner says where output `o` lies; the others are in the set.
  bool Places(size_t o) const { return spec_.arena && layout_.tensors[layout_.outputs[o]].role == TensorRole::kOutput; }
  bool freezes() const { return freezes_; }
  bool alive() const { return !link_->box().Ended(); }
  std::optional<std::chrono::microseconds> CpuTime() const { return link_->box().CpuTime(); }

 private:
  Side(Device& device, SideSpec spec, std::unique_ptr<DeviceBlock> block, std::unique_ptr<RunnerLink> link);

  Status Freeze();
  void AddGuards(uint64_t set, const StreamKey& poison, std::vector<Poisoning>& poisonings) const;
  Status ThawAndPing(std::chrono::microseconds timeout, Waited* waited);
  // A tile before its output's place is known.
  struct TileChoice {
    uint64_t offset = 0;  // in the block, or in the output where `place` says which
    uint64_t bytes = 0;
    int64_t place = -1;  // index of the reported place; -1: the judge's own
  };
  std::vector<TileChoice> ChooseTiles(std::span<const uint32_t> sets, ChoiceStream& choices, size_t tile_count) const;
  std::vector<Region> ResolveTiles(std::span<const TileChoice> choices) const;
  size_t PlacesFor(Opcode opcode, size_t calls) const;

  Device& device_;
  SideSpec spec_;
  std::unique_ptr<DeviceBlock> block_;
  std::unique_ptr<RunnerLink> link_;
  SetLayout layout_;
  uint64_t sets_ = 0;
  bool freezes_ = true;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_SIDE_H_
