#include "reward/judge/side.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "reward/judge/output_place.h"

namespace touchstone {
namespace {

constexpr uint64_t kTileBytes = 64;
constexpr uint64_t kPageBytes = 4096;

// The poison of a set: one stream for its outputs and guards.
StreamKey PoisonKey(const SecretKey& key, uint64_t call) {
  return DeriveStreamKey(key, StreamPurpose::kPoison, call, 0);
}

}  // namespace

std::vector<uint32_t> SetsOf(std::span<const CallSlot> slots) {
  std::vector<uint32_t> sets;
  sets.reserve(slots.size());
  for (const CallSlot& slot : slots) sets.push_back(slot.set);
  return sets;
}

Side::Side(Device& device, SideSpec spec, std::unique_ptr<DeviceBlock> block, std::unique_ptr<RunnerLink> link)
    : device_(device), spec_(std::move(spec)), block_(std::move(block)), link_(std::move(link)) {
  freezes_ = link_->box().layers().Has(Layer::kFreezer);
}

Result<std::unique_ptr<Side>> Side::Start(Spawner& spawner, Device& device, const SideSpec& spec) {
  TOUCHSTONE_ASSIGN(auto block, device.AllocateShared(spec.block_bytes));
  TOUCHSTONE_ASSIGN(auto link, RunnerLink::Start(spawner, spec.policy, spec.limits, spec.program, block->fd()));
  return std::unique_ptr<Side>(new Side(device, spec, std::move(block), std::move(link)));
}

Status Side::Freeze() {
  if (!freezes_ || !alive()) return {};
  return link_->box().Freeze();
}

Result<Turn> Side::Load(int artifact_fd, std::chrono::microseconds timeout) {
  Turn turn;
  const auto start = RawClock::now();
  TOUCHSTONE_RETURN_IF_ERROR(link_->SendArtifact(artifact_fd));
  CommandPage& command = link_->command();
  command.threads = static_cast<uint32_t>(spec_.threads);
  command.block_bytes = block_->size();
  link_->Ring(Opcode::kLoad);
  turn.waited = link_->Await(timeout, false);
  turn.elapsed_us = ToMicroseconds(RawClock::now() - start);
  turn.answer = link_->Answer(0);
  TOUCHSTONE_RETURN_IF_ERROR(Freeze());
  return turn;
}

Status Side::SetUp(const SetLayout& layout, uint64_t sets) {
  const uint64_t used = sets * layout.stride;
  if (used > block_->size()) {
    return Error(ErrorCode::kInvalidArgument, "the profile's block_bytes is " + std::to_string(block_->size()) +
                                                  ", these sets need " + std::to_string(used));
  }
  layout_ = layout;
  sets_ = sets;
  CommandPage& command = link_->command();
  command.tensor_count = static_cast<uint32_t>(layout.tensors.size());
  command.dim_count = static_cast<uint32_t>(layout.dims.size());
  command.threads = static_cast<uint32_t>(spec_.threads);
  command.spin = spec_.spin ? 1 : 0;
  command.block_bytes = block_->size();
  command.set_stride = layout.stride;
  command.arena_offset = (used + kPageBytes - 1) / kPageBytes * kPageBytes;
  command.arena_bytes = spec_.arena ? block_->size() - std::min<uint64_t>(block_->size(), command.arena_offset) : 0;
  for (size_t d = 0; d < layout.dims.size(); ++d) command.dims[d] = layout.dims[d].second;
  for (size_t t = 0; t < layout.tensors.size(); ++t) {
    const TensorLayout& tensor = layout.tensors[t];
    TensorPlace place{};
    place.offset = tensor.offset;
    place.bytes = tensor.bytes;
    place.dtype = static_cast<uint32_t>(tensor.dtype);
    place.role = static_cast<uint32_t>(tensor.role);
    place.rank = static_cast<uint32_t>(tensor.dims.size());
    std::copy(tensor.dims.begin(), tensor.dims.end(), place.dims);
    command.tensors[t] = place;
  }
  return {};
}

Status Side::Prepare(std::span<const CallSlot> slots, const SecretKey& key) {
  std::vector<Filling> fillings;
  std::vector<Poisoning> poisonings;
  for (const CallSlot& slot : slots) {
    const StreamKey poison = PoisonKey(key, slot.call);
    for (size_t t = 0; t < layout_.tensors.size(); ++t) {
      const uint64_t offset = layout_.Offset(slot.set, t);
      if (t < slot.inputs.size()) {
        fillings.push_back({offset, &slot.inputs[t]});
      } else {
        poisonings.push_back({{offset, layout_.tensors[t].bytes}, poison});
      }
    }
    AddGuards(slot.set, poison, poisonings);
  }
  return device_.Fill(*block_, fillings, poisonings);
}

void Side::AddGuards(uint64_t set, const StreamKey& poison, std::vector<Poisoning>& poisonings) const {
  for (const Region& guard : layout_.guards) {
    poisonings.push_back({{set * layout_.stride + guard.offset, guard.bytes}, poison});
  }
}

Status Side::ThawAndPing(std::chrono::microseconds timeout, Waited* waited) {
  if (freezes_) TOUCHSTONE_RETURN_IF_ERROR(link_->box().Thaw());
  link_->Ring(Opcode::kPing);
  *waited = link_->Await(timeout, spec_.spin);
  return {};
}

size_t Side::PlacesFor(Opcode opcode, size_t calls) const {
  if (!spec_.arena) return 0;
  if (opcode == Opcode::kOracle) return layout_.outputs.size();
  const size_t own = static_cast<size_t>(std::count_if(layout_.tensors.begin(), layout_.tensors.end(),
                                                       [](const auto& t) { return t.role == TensorRole::kOutput; }));
  return opcode == Opcode::kRun ? own * calls : 0;
}

Result<Turn> Side::Run(Opcode opcode, std::span<const uint32_t> sets, std::chrono::microseconds timeout,
                       ChoiceStream& choices, size_t tile_count) {
  TOUCHSTONE_CHECK(sets.size() <= kMaxCalls, "more calls than a command holds");
  Turn turn;
  // From the thaw on the runner may work on its inputs: all that takes time is done before, and the ping is at once
  // followed by the doorbell.
  CommandPage& command = link_->command();
  command.calls = static_cast<uint32_t>(sets.size());
  std::copy(sets.begin(), sets.end(), command.order);
  const auto chosen = ChooseTiles(sets, choices, opcode == Opcode::kRun ? tile_count : 0);
  std::vector<Region> tiles;
  std::vector<std::byte> read(tile_count * kTileBytes);
  const auto cpu_before = CpuTime();
  device_.Idle();

  const auto thawed = RawClock::now();
  TOUCHSTONE_RETURN_IF_ERROR(ThawAndPing(timeout, &turn.waited));
  const auto start = RawClock::now();
  turn.handover_us = ToMicroseconds(start - thawed);
  if (turn.waited != Waited::kDone) {
    TOUCHSTONE_RETURN_IF_ERROR(Freeze());
    return turn;
  }
  link_->Ring(opcode);
  turn.waited = link_->Await(timeout, spec_.spin);
  if (turn.waited == Waited::kDone) {
    tiles = ResolveTiles(chosen);
    TOUCHSTONE_RETURN_IF_ERROR(device_.ReadTiles(*block_, tiles, read));
  }
  turn.elapsed_us = ToMicroseconds(RawClock::now() - start);

  TOUCHSTONE_RETURN_IF_ERROR(Freeze());
  const auto cpu_after = CpuTime();
  turn.cpu_us = cpu_before && cpu_after ? static_cast<double>((*cpu_after - *cpu_before).count()) : -1;
  if (turn.waited == Waited::kDone) turn.answer = link_->Answer(PlacesFor(opcode, sets.size()));
  if (!turn.Completed()) return turn;
  std::vector<std::byte> final_bytes(read.size());
  TOUCHSTONE_RETURN_IF_ERROR(device_.ReadTiles(*block_, tiles, final_bytes));
  turn.tiles_final = read == final_bytes;
  return turn;
}

std::vector<Side::TileChoice> Side::ChooseTiles(std::span<const uint32_t> sets, ChoiceStream& choices,
                                                size_t tile_count) const {
  std::vector<TileChoice> chosen;
  const size_t outputs = layout_.outputs.size();
  if (outputs == 0 || sets.empty()) return chosen;
  const size_t own = PlacesFor(Opcode::kRun, 1);
  for (size_t i = 0; i < tile_count; ++i) {
    // The last call is always looked at: it is the one that a deferred computation would leave unfinished.
    const size_t call = i < outputs ? sets.size() - 1 : choices.Below(sets.size());
    const size_t o = i < outputs ? i : choices.Below(outputs);
    const TensorLayout& tensor = layout_.tensors[layout_.outputs[o]];
    TileChoice tile;
    tile.bytes = std::min(tensor.bytes, kTileBytes);
    tile.offset = choices.Below(tensor.bytes - tile.bytes + 1);
    if (spec_.arena && tensor.role == TensorRole::kOutput) {
      const auto is_own = [&](size_t t) { return layout_.tensors[t].role == TensorRole::kOutput; };
      const auto end = layout_.outputs.begin() + static_cast<long>(o);
      tile.place = static_cast<int64_t>(call * own) + std::count_if(layout_.outputs.begin(), end, is_own);
    } else {
      tile.offset += layout_.Offset(sets[call], layout_.outputs[o]);
    }
    chosen.push_back(tile);
  }
  return chosen;
}

std::vector<Region> Side::ResolveTiles(std::span<const TileChoice> choices) const {
  std::vector<Region> tiles;
  tiles.reserve(choices.size());
  for (const TileChoice& choice : choices) {
    const uint64_t base = choice.place < 0 ? 0 : link_->PlaceOffset(static_cast<size_t>(choice.place));
    // A place outside the block is found when the outputs are checked.
    const uint64_t last = block_->size() - choice.bytes;
    tiles.push_back({base > last || choice.offset > last - base ? 0 : base + choice.offset, choice.bytes});
  }
  return tiles;
}

Result<StridedArray> Side::Output(const Turn& turn, std::span<const uint32_t> sets, size_t call, size_t o,
                                  bool oracle) const {
  const TensorLayout& tensor = layout_.tensors[layout_.outputs[o]];
  StridedArray array;
  array.dtype = oracle && IsFloating(tensor.dtype) ? DType::kFloat64 : tensor.dtype;
  array.dims = tensor.dims;
  if (!spec_.arena || (tensor.role == TensorRole::kInOut && !oracle)) {
    array.offset = layout_.Offset(sets[call], layout_.outputs[o]);
    array.strides.resize(tensor.dims.size());
    int64_t stride = 1;
    for (size_t d = tensor.dims.size(); d-- > 0;) {
      array.strides[d] = stride;
      stride *= tensor.dims[d];
    }
    return array;
  }
  // Places are listed call by call; an oracle lists every output, a run only those that are not in place.
  size_t own = 0;
  size_t index = 0;
  for (size_t i = 0; i < layout_.outputs.size(); ++i) {
    const bool listed = oracle || layout_.tensors[layout_.outputs[i]].role == TensorRole::kOutput;
    if (listed && i < o) ++index;
    if (listed) ++own;
  }
  index += call * own;
  const auto bad = [&](const std::string& why) {
    return Error(ErrorCode::kInvalidArgument, "output '" + tensor.name + "' " + why);
  };
  if (index >= turn.answer.places.size()) return bad("was not reported");
  const OutputPlace& place = turn.answer.places[index];
  return CheckPlace(place, tensor, array.dtype, sets_ * layout_.stride, block_->size());
}

Result<std::vector<uint64_t>> Side::CountChangedInputs(std::span<const CallSlot> slots) const {
  std::vector<Filling> fillings;
  std::vector<size_t> slot_of;
  for (size_t i = 0; i < slots.size(); ++i) {
    for (size_t t = 0; t < slots[i].inputs.size(); ++t) {
      if (layout_.tensors[t].role != TensorRole::kInput) continue;
      fillings.push_back({layout_.Offset(slots[i].set, t), &slots[i].inputs[t]});
      slot_of.push_back(i);
    }
  }
  TOUCHSTONE_ASSIGN(const auto counts, device_.CountChanged(*block_, fillings));
  std::vector<uint64_t> changed(slots.size());
  for (size_t f = 0; f < counts.size(); ++f) changed[slot_of[f]] += counts[f];
  return changed;
}

Result<std::vector<uint64_t>> Side::CountDamagedGuards(std::span<const CallSlot> slots, const SecretKey& key) const {
  std::vector<Poisoning> guards;
  for (const CallSlot& slot : slots) AddGuards(slot.set, PoisonKey(key, slot.call), guards);
  TOUCHSTONE_ASSIGN(const auto intact, device_.CountPoison(*block_, guards));
  std::vector<uint64_t> damaged(slots.size());
  for (size_t g = 0; g < guards.size(); ++g) {
    damaged[g / layout_.guards.size()] += guards[g].region.bytes - intact[g];
  }
  return damaged;
}

Result<uint64_t> Side::CountUnwritten(const CallSlot& slot, size_t o, const SecretKey& key) const {
  const TensorLayout& tensor = layout_.tensors[layout_.outputs[o]];
  if (tensor.role != TensorRole::kOutput) return uint64_t{0};
  const Poisoning poisoning{{layout_.Offset(slot.set, layout_.outputs[o]), tensor.bytes}, PoisonKey(key, slot.call)};
  TOUCHSTONE_ASSIGN(const auto counts, device_.CountPoison(*block_, std::span(&poisoning, 1)));
  return counts.front();
}

}  // namespace touchstone
