#include "reward/judge/cpu/cpu_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include "base/memfd.h"

namespace touchstone {
namespace {

// Large work is cut into pieces of this many bytes for the workers.
constexpr uint64_t kPieceBytes = uint64_t{256} << 10;
// Waking the workers costs about as much as copying this many bytes; less than that is done on the spot.
constexpr uint64_t kSharedBytes = uint64_t{2} << 20;
// Memory of masters is used again as long as there is no more of it than this.
constexpr size_t kMasterBytes = size_t{256} << 20;

class CpuBlock final : public DeviceBlock {
 public:
  CpuBlock(UniqueFd fd, Mapping mapping) : fd_(std::move(fd)), mapping_(std::move(mapping)) {}
  int fd() const override { return fd_.get(); }
  size_t size() const override { return mapping_.size(); }
  std::byte* data() const { return mapping_.data(); }

 private:
  UniqueFd fd_;
  Mapping mapping_;
};

std::byte* DataOf(const DeviceBlock& block) { return static_cast<const CpuBlock&>(block).data(); }

Status Within(const DeviceBlock& block, uint64_t offset, uint64_t bytes) {
  if (offset > block.size() || bytes > block.size() - offset) {
    return Error(ErrorCode::kInternal, "region outside its block");
  }
  return {};
}

void CopyStrided(const std::byte* from, const StridedArray& array, size_t dim, std::byte*& to) {
  const size_t size = SizeOf(array.dtype);
  if (dim == array.dims.size()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  const auto step = array.strides[dim] * static_cast<int64_t>(size);
  if (dim + 1 == array.dims.size() && array.strides[dim] == 1) {
    const size_t bytes = static_cast<size_t>(array.dims[dim]) * size;
    std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  for (int64_t i = 0; i < array.dims[dim]; ++i) CopyStrided(from + i * step, array, dim + 1, to);
}

// The pieces of `count` elements of `size` bytes: calls `work(first, n)` for each, where `first` is a multiple of
// `step`.
void ForPieces(Workers& workers, uint64_t count, uint64_t size, uint64_t step,
               const std::function<void(uint64_t, uint64_t)>& work) {
  const uint64_t by_size = std::max<uint64_t>(1, kPieceBytes / (size * step)) * step;
  const uint64_t piece = count * size < kSharedBytes ? std::max<uint64_t>(1, count) : by_size;
  workers.ForEach((count + piece - 1) / piece, [&](size_t i) {
    const uint64_t first = i * piece;
    work(first, std::min(piece, count - first));
  });
}

// Two reports on parts of one array as the report on both.
CompareReport Joined(const CompareReport& a, const CompareReport& b, uint64_t b_first) {
  CompareReport joined = a;
  joined.count = a.count + b.count;
  joined.mismatches = a.mismatches + b.mismatches;
  joined.nonfinite_mismatches = a.nonfinite_mismatches + b.nonfinite_mismatches;
  if (a.mismatches == 0) joined.first_mismatch = b.first_mismatch + b_first;
  joined.max_abs = std::max(a.max_abs, b.max_abs);
  joined.max_rel = std::max(a.max_rel, b.max_rel);
  const auto mean_square = [&](double x, double y) {
    const auto total = static_cast<double>(joined.count);
    return total == 0 ? 0
                      : std::sqrt(x * x * (static_cast<double>(a.count) / total) +
                                  y * y * (static_cast<double>(b.count) / total));
  };
  joined.rms_error = mean_square(a.rms_error, b.rms_error);
  joined.rms_expected = mean_square(a.rms_expected, b.rms_expected);
  return joined;
}

bool SameStream(const InputStream& a, const InputStream& b) {
  // The key decides the distribution as well: one (call, tensor) has one distribution within an evaluation.
  return a.key == b.key && a.count == b.count && a.dtype == b.dtype;
}

}  // namespace

Result<std::unique_ptr<DeviceBlock>> CpuDevice::AllocateShared(size_t bytes) {
  TOUCHSTONE_ASSIGN(UniqueFd fd, CreateMemfd("block", bytes));
  TOUCHSTONE_ASSIGN(Mapping mapping, Mapping::Map(fd.get(), bytes, Mapping::Access::kReadWrite));
  return std::unique_ptr<DeviceBlock>(new CpuBlock(std::move(fd), std::move(mapping)));
}

Result<std::unique_ptr<DeviceBlock>> CpuDevice::AllocatePrivate(size_t bytes) {
  TOUCHSTONE_ASSIGN(UniqueFd fd, CreateMemfd("private", bytes));
  TOUCHSTONE_ASSIGN(Mapping mapping, Mapping::Map(fd.get(), bytes, Mapping::Access::kReadWrite));
  return std::unique_ptr<DeviceBlock>(new CpuBlock(UniqueFd(), std::move(mapping)));
}

const std::vector<std::byte>& CpuDevice::MasterOf(const InputStream& stream) {
  // The newest first: a fill of the other side, or the search for changes, follows soon.
  for (auto master = masters_.rbegin(); master != masters_.rend(); ++master) {
    if (SameStream((*master)->stream, stream)) return (*master)->bytes;
  }
  const size_t bytes = stream.count * SizeOf(stream.dtype);
  std::unique_ptr<Master> master;
  const auto spare = std::find_if(spare_masters_.begin(), spare_masters_.end(),
                                  [&](const auto& m) { return m->bytes.size() == bytes; });
  if (spare != spare_masters_.end()) {
    master = std::move(*spare);
    spare_masters_.erase(spare);
  } else {
    master = std::make_unique<Master>();
    master->bytes.resize(bytes);
    held_bytes_ += bytes;
  }
  master->stream = stream;
  const size_t size = SizeOf(stream.dtype);
  const bool by_rows = stream.distribution.family == Distribution::Family::kPermutation;
  ForPieces(workers_, stream.count, size, by_rows ? std::max<uint64_t>(1, stream.row_length) : 1,
            [&](uint64_t first, uint64_t n) { Generate(stream, first, n, master->bytes.data() + first * size); });
  masters_.push_back(std::move(master));
  return masters_.back()->bytes;
}

void CpuDevice::Forget() {
  for (auto& master : masters_) spare_masters_.push_back(std::move(master));
  masters_.clear();
  // Sizes that are not in use any more would stay for ever.
  if (held_bytes_ > kMasterBytes) {
    spare_masters_.clear();
    held_bytes_ = 0;
  }
}

const CpuDevice::PoisonPage& CpuDevice::PoisonOf(const StreamKey& key) {
  if (!has_poison_ || poison_key_ != key) {
    GenerateBytes(key, 0, poison_page_.size(), poison_page_.data());
    poison_key_ = key;
    has_poison_ = true;
  }
  return poison_page_;
}

Status CpuDevice::Fill(DeviceBlock& block, uint64_t offset, const InputStream& stream) {
  const std::vector<std::byte>& master = MasterOf(stream);
  TOUCHSTONE_RETURN_IF_ERROR(Within(block, offset, master.size()));
  std::byte* data = DataOf(block) + offset;
  ForPieces(workers_, master.size(), 1, 1,
            [&](uint64_t first, uint64_t n) { std::memcpy(data + first, master.data() + first, n); });
  return {};
}

Status CpuDevice::Poison(DeviceBlock& block, Region region, const StreamKey& key) {
  TOUCHSTONE_RETURN_IF_ERROR(Within(block, region.offset, region.bytes));
  const PoisonPage& page = PoisonOf(key);
  std::byte* data = DataOf(block) + region.offset;
  ForPieces(workers_, region.bytes, 1, page.size(), [&](uint64_t first, uint64_t n) {
    for (uint64_t done = first; done < first + n; done += page.size()) {
      std::memcpy(data + done, page.data(), std::min<uint64_t>(page.size(), first + n - done));
    }
  });
  return {};
}

Result<uint64_t> CpuDevice::CountChanged(const DeviceBlock& block, uint64_t offset, const InputStream& stream) {
  const std::vector<std::byte>& master = MasterOf(stream);
  TOUCHSTONE_RETURN_IF_ERROR(Within(block, offset, master.size()));
  const std::byte* data = DataOf(block) + offset;
  const size_t size = SizeOf(stream.dtype);
  std::atomic<uint64_t> changed = 0;
  ForPieces(workers_, stream.count, size, 1, [&](uint64_t first, uint64_t n) {
    const std::byte* now = data + first * size;
    const std::byte* then = master.data() + first * size;
    if (std::memcmp(now, then, n * size) == 0) return;
    uint64_t here = 0;
    for (uint64_t i = 0; i < n; ++i) here += std::memcmp(now + i * size, then + i * size, size) != 0 ? 1 : 0;
    changed += here;
  });
  return changed.load();
}

Result<uint64_t> CpuDevice::CountPoison(const DeviceBlock& block, Region region, const StreamKey& key) {
  TOUCHSTONE_RETURN_IF_ERROR(Within(block, region.offset, region.bytes));
  const PoisonPage& page = PoisonOf(key);
  const std::byte* data = DataOf(block) + region.offset;
  uint64_t poisoned = 0;
  for (uint64_t done = 0; done < region.bytes; done += page.size()) {
    const uint64_t part = std::min<uint64_t>(page.size(), region.bytes - done);
    if (std::memcmp(data + done, page.data(), part) == 0) {
      poisoned += part;
      continue;
    }
    for (uint64_t i = 0; i < part; ++i) poisoned += data[done + i] == page[i] ? 1 : 0;
  }
  return poisoned;
}

Status CpuDevice::ReadTiles(const DeviceBlock& block, std::span<const Region> tiles, std::span<std::byte> out) {
  size_t done = 0;
  for (const Region& tile : tiles) {
    TOUCHSTONE_RETURN_IF_ERROR(Within(block, tile.offset, tile.bytes));
    TOUCHSTONE_CHECK(tile.bytes <= out.size() - done, "tiles do not fit into their buffer");
    std::memcpy(out.data() + done, DataOf(block) + tile.offset, tile.bytes);
    done += tile.bytes;
  }
  return {};
}

Status CpuDevice::Gather(const DeviceBlock& from, const StridedArray& array, DeviceBlock& to, uint64_t offset) {
  uint64_t elements = 1;
  for (const int64_t dim : array.dims) elements *= static_cast<uint64_t>(dim);
  TOUCHSTONE_RETURN_IF_ERROR(Within(to, offset, elements * SizeOf(array.dtype)));
  if (elements == 0) return {};
  std::byte* target = DataOf(to) + offset;
  CopyStrided(DataOf(from) + array.offset, array, 0, target);
  return {};
}

Result<CompareReport> CpuDevice::CompareArrays(const DeviceBlock& actual, uint64_t actual_offset, DType dtype,
                                               const DeviceBlock& expected, uint64_t expected_offset,
                                               DType expected_dtype, uint64_t count, const Tolerance& tolerance) {
  TOUCHSTONE_RETURN_IF_ERROR(Within(actual, actual_offset, count * SizeOf(dtype)));
  TOUCHSTONE_RETURN_IF_ERROR(Within(expected, expected_offset, count * SizeOf(expected_dtype)));
  const std::byte* left = DataOf(actual) + actual_offset;
  const std::byte* right = DataOf(expected) + expected_offset;
  std::vector<std::pair<uint64_t, CompareReport>> parts;
  std::mutex guard;
  // The root mean square is judged over the whole, so the parts are compared without it.
  const Tolerance elementwise{tolerance.rtol, tolerance.atol, 0};
  ForPieces(workers_, count, SizeOf(dtype), 1, [&](uint64_t first, uint64_t n) {
    const CompareReport part = Compare(dtype, left + first * SizeOf(dtype), expected_dtype,
                                       right + first * SizeOf(expected_dtype), n, elementwise);
    const std::lock_guard lock(guard);
    parts.emplace_back(first, part);
  });
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  CompareReport whole;
  for (const auto& [first, part] : parts) whole = Joined(whole, part, first);
  whole.rms_exceeded = tolerance.rms > 0 && !(whole.rms_error <= tolerance.rms * whole.rms_expected);
  return whole;
}

}  // namespace touchstone
