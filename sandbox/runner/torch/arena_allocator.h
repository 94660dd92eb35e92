// Where the reference's tensors live while a command is carried out: in the judge's block, so that outputs need no copy
// inside the timed window.
#ifndef TOUCHSTONE_SANDBOX_RUNNER_TORCH_ARENA_ALLOCATOR_H_
#define TOUCHSTONE_SANDBOX_RUNNER_TORCH_ARENA_ALLOCATOR_H_

#include <c10/core/Allocator.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>

namespace touchstone {

// PyTorch's CPU allocator for the whole process. While an arena is open, memory comes from it (64-byte aligned, first
// fit, freed pieces are used again); when it is full, and while none is open, from PyTorch's own allocator. Books are
// kept outside of the arena, whose free part the judge overwrites between commands. Thread-safe.
class ArenaAllocator final : public c10::Allocator {
 public:
  // The one instance, installed as PyTorch's CPU allocator by the first call. Never destroyed: tensors with static
  // lifetime free through it.
  static ArenaAllocator& Instance();

  // Opens [begin, begin + bytes). False when memory of an earlier arena is still in use, which would then overlap.
  bool Open(std::byte* begin, size_t bytes);
  // New memory comes from elsewhere from now on; what was handed out stays valid.
  void Close();
  bool Contains(const void* memory) const;

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }
  void copy_data(void* destination, const void* source, size_t bytes) const override {
    default_copy_data(destination, source, bytes);
  }

 private:
  ArenaAllocator() = default;
  static void Delete(void* memory);
  void* TakeFromArena(size_t bytes);
  bool GiveBackToArena(void* memory);

  mutable std::mutex mutex_;
  bool open_ = false;
  std::byte* begin_ = nullptr;
  size_t bytes_ = 0;
  std::map<size_t, size_t> free_;             // offset → bytes; neighbours are merged
  std::unordered_map<size_t, size_t> taken_;  // offset → bytes
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_TORCH_ARENA_ALLOCATOR_H_
