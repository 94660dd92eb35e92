#include "sandbox/runner/torch/arena_allocator.h"

#include <c10/core/CPUAllocator.h>

#include <cstdint>
#include <iterator>

namespace touchstone {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

ArenaAllocator& ArenaAllocator::Instance() {
  static ArenaAllocator* const instance = [] {
    auto* allocator = new ArenaAllocator();
    c10::SetCPUAllocator(allocator, /*priority=*/255);
    return allocator;
  }();
  return *instance;
}

bool ArenaAllocator::Open(std::byte* begin, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!taken_.empty()) return false;
  const size_t skip = -reinterpret_cast<uintptr_t>(begin) % kAlignment;
  begin_ = begin + skip;
  bytes_ = bytes > skip ? (bytes - skip) / kAlignment * kAlignment : 0;
  free_.clear();
  if (bytes_ > 0) free_.emplace(0, bytes_);
  open_ = true;
  return true;
}

void ArenaAllocator::Close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
}

bool ArenaAllocator::Contains(const void* memory) const {
  const auto* at = static_cast<const std::byte*>(memory);
  return at >= begin_ && at < begin_ + bytes_;
}

c10::DataPtr ArenaAllocator::allocate(size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, nullptr, &Delete, cpu};
  void* memory = TakeFromArena(bytes);
  if (memory == nullptr) memory = c10::GetDefaultCPUAllocator()->raw_allocate(bytes);
  return {memory, memory, &Delete, cpu};
}

void* ArenaAllocator::TakeFromArena(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!open_ || bytes > bytes_) return nullptr;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
    const auto [offset, length] = *piece;
    if (length < bytes) continue;
    free_.erase(piece);
    if (length > bytes) free_.emplace(offset + bytes, length - bytes);
    taken_.emplace(offset, bytes);
    return begin_ + offset;
  }
  return nullptr;
}

bool ArenaAllocator::GiveBackToArena(void* memory) {
  const std::lock_guard lock(mutex_);
  if (!Contains(memory)) return false;
  const auto taken = taken_.find(static_cast<size_t>(static_cast<std::byte*>(memory) - begin_));
  if (taken == taken_.end()) return true;
  auto [offset, bytes] = *taken;
  taken_.erase(taken);
  auto next = free_.upper_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += bytes;
      return true;
    }
  }
  free_.emplace(offset, bytes);
  return true;
}

void ArenaAllocator::Delete(void* memory) {
  if (memory == nullptr || Instance().GiveBackToArena(memory)) return;
  c10::GetDefaultCPUAllocator()->raw_deallocate(memory);
}

}  // namespace touchstone
