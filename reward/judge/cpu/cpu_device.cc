#include "reward/judge/cpu/cpu_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memfd.h"

namespace touchstone {
namespace {

// Work is cut into pieces of about this many bytes for the workers.
constexpr uint64_t kPieceBytes = uint64_t{128} << 10;
// Waking a worker costs about as much as copying this many bytes; a batch of less is done on the spot.
constexpr uint64_t kSharedBytes = uint64_t{256} << 10;
// Memory of masters is used again as long as there is no more of it than this.
constexpr size_t kMasterBytes = size_t{256} << 20;
// Poison is this much random data, repeated: as fresh, and as fast as memory.
constexpr uint64_t kPoisonPeriod = 4096;

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

// Some work on the items of a batch, cut into pieces that are about equally long: large items are cut, small ones go
// together.
class Batch {
 public:
  // Elements [first, first + count) of an item.
  struct Part {
    size_t item = 0;
    uint64_t first = 0;
    uint64_t count = 0;
  };

  // An item of `count` elements of `size` bytes, cut only at multiples of `step`.
  void Add(size_t item, uint64_t count, uint64_t size, uint64_t step) {
    const uint64_t most = std::max<uint64_t>(1, kPieceBytes / (size * step)) * step;
    for (uint64_t first = 0; first < count; first += most) {
      if (piece_bytes_ == 0 || piece_bytes_ >= kPieceBytes) {
        pieces_.push_back(parts_.size());
        piece_bytes_ = 0;
      }
      const uint64_t n = std::min(most, count - first);
      parts_.push_back({item, first, n});
      piece_bytes_ += n * size;
      bytes_ += n * size;
    }
  }

  // Calls `work(part, index of the part)` for all parts.
  template <typename Work>
  void Run(Workers& workers, const Work& work) const {
    const auto range = [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) work(parts_[i], i);
    };
    if (bytes_ < kSharedBytes) return range(0, parts_.size());
    workers.ForEach(pieces_.size(),
                    [&](size_t p) { range(pieces_[p], p + 1 < pieces_.size() ? pieces_[p + 1] : parts_.size()); });
  }

  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  std::vector<size_t> pieces_;  // the first part of each
  uint64_t piece_bytes_ = 0;    // of the last piece
  uint64_t bytes_ = 0;
};

// Calls `use(offset, page, n)` for the poison of `n` bytes at each `offset` from the start of `poisoning`, in [first,
// first + count); `first` is a multiple of the period.
template <typename Use>
void ForPoison(const Poisoning& poisoning, uint64_t first, uint64_t count, const Use& use) {
  alignas(64) std::byte page[kPoisonPeriod];
  GenerateBytes(poisoning.key, 0, std::min(kPoisonPeriod, count), page);
  for (uint64_t done = 0; done < count; done += kPoisonPeriod) {
    use(first + done, page, std::min(kPoisonPeriod, count - done));
  }
}

// Where a stream may be cut.
uint64_t StepOf(const InputStream& stream) {
  const bool by_rows = stream.distribution.family == Distribution::Family::kPermutation;
  return by_rows ? std::max<uint64_t>(1, stream.row_length) : 1;
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

CpuDevice::Master& CpuDevice::MasterOf(const InputStream& stream) {
  // The key decides all the rest: one (call, tensor) has one size and one distribution within an evaluation.
  const auto [entry, fresh] = masters_.try_emplace(stream.key);
  Master& master = entry->second;
  if (!fresh) return master;
  master.stream = stream;
  const size_t bytes = stream.count * SizeOf(stream.dtype);
  if (const auto spare = spare_bytes_.find(bytes); spare != spare_bytes_.end()) {
    master.bytes = std::move(spare->second);
    spare_bytes_.erase(spare);
  } else {
    master.bytes.resize(bytes);
    held_bytes_ += bytes;
  }
  return master;
}

Result<std::vector<CpuDevice::Master*>> CpuDevice::MastersOf(const DeviceBlock& block,
                                                             std::span<const Filling> fillings) {
  std::vector<Master*> masters;
  masters.reserve(fillings.size());
  for (const Filling& filling : fillings) {
    Master& master = MasterOf(*filling.stream);
    TOUCHSTONE_CHECK(master.bytes.size() == filling.stream->count * SizeOf(filling.stream->dtype),
                     "two streams with one key");
    TOUCHSTONE_RETURN_IF_ERROR(Within(block, filling.offset, master.bytes.size()));
    masters.push_back(&master);
  }
  return masters;
}

void CpuDevice::Forget() {
  for (auto& [key, master] : masters_) spare_bytes_.emplace(master.bytes.size(), std::move(master.bytes));
  masters_.clear();
  // Sizes that are not in use any more would stay for ever.
  if (held_bytes_ > kMasterBytes) {
    spare_bytes_.clear();
    held_bytes_ = 0;
  }
}

Status CpuDevice::Fill(DeviceBlock& block, std::span<const Filling> fillings, std::span<const Poisoning> poisonings) {
  TOUCHSTONE_ASSIGN(const std::vector<Master*> masters, MastersOf(block, fillings));
  Batch batch;
  for (size_t i = 0; i < fillings.size(); ++i) {
    const InputStream& stream = *fillings[i].stream;
    batch.Add(i, stream.count, SizeOf(stream.dtype), StepOf(stream));
  }
  for (size_t i = 0; i < poisonings.size(); ++i) {
    TOUCHSTONE_RETURN_IF_ERROR(Within(block, poisonings[i].region.offset, poisonings[i].region.bytes));
    batch.Add(fillings.size() + i, poisonings[i].region.bytes, 1, kPoisonPeriod);
  }
  std::byte* const data = DataOf(block);
  batch.Run(workers_, [&](const Batch::Part& part, size_t) {
    if (part.item < fillings.size()) {
      Master& master = *masters[part.item];
      const size_t size = SizeOf(master.stream.dtype);
      std::byte* const bytes = master.bytes.data() + part.first * size;
      if (!master.made) Generate(master.stream, part.first, part.count, bytes);
      std::memcpy(data + fillings[part.item].offset + part.first * size, bytes, part.count * size);
      return;
    }
    const Poisoning& poisoning = poisonings[part.item - fillings.size()];
    ForPoison(poisoning, part.first, part.count, [&](uint64_t offset, const std::byte* page, uint64_t n) {
      std::memcpy(data + poisoning.region.offset + offset, page, n);
    });
  });
  for (Master* master : masters) master->made = true;
  return {};
}

Result<std::vector<uint64_t>> CpuDevice::CountChanged(const DeviceBlock& block, std::span<const Filling> fillings) {
  TOUCHSTONE_ASSIGN(const std::vector<Master*> masters, MastersOf(block, fillings));
  Batch batch;
  for (size_t i = 0; i < fillings.size(); ++i) {
    const InputStream& stream = *fillings[i].stream;
    batch.Add(i, stream.count, SizeOf(stream.dtype), StepOf(stream));
  }
  std::vector<uint64_t> by_part(batch.parts().size());
  const std::byte* const data = DataOf(block);
  batch.Run(workers_, [&](const Batch::Part& part, size_t p) {
    Master& master = *masters[part.item];
    const size_t size = SizeOf(master.stream.dtype);
    std::byte* const then = master.bytes.data() + part.first * size;
    const std::byte* const now = data + fillings[part.item].offset + part.first * size;
    if (!master.made) Generate(master.stream, part.first, part.count, then);
    if (std::memcmp(now, then, part.count * size) == 0) return;
    for (uint64_t i = 0; i < part.count; ++i) {
      by_part[p] += std::memcmp(now + i * size, then + i * size, size) != 0 ? 1 : 0;
    }
  });
  for (Master* master : masters) master->made = true;
  std::vector<uint64_t> changed(fillings.size());
  for (size_t p = 0; p < by_part.size(); ++p) changed[batch.parts()[p].item] += by_part[p];
  return changed;
}

Result<std::vector<uint64_t>> CpuDevice::CountPoison(const DeviceBlock& block, std::span<const Poisoning> poisonings) {
  Batch batch;
  for (size_t i = 0; i < poisonings.size(); ++i) {
    TOUCHSTONE_RETURN_IF_ERROR(Within(block, poisonings[i].region.offset, poisonings[i].region.bytes));
    batch.Add(i, poisonings[i].region.bytes, 1, kPoisonPeriod);
  }
  std::vector<uint64_t> by_part(batch.parts().size());
  batch.Run(workers_, [&](const Batch::Part& part, size_t p) {
    const std::byte* const data = DataOf(block) + poisonings[part.item].region.offset;
    ForPoison(poisonings[part.item], part.first, part.count, [&](uint64_t offset, const std::byte* page, uint64_t n) {
      if (std::memcmp(data + offset, page, n) == 0) {
        by_part[p] += n;
        return;
      }
      for (uint64_t i = 0; i < n; ++i) by_part[p] += data[offset + i] == page[i] ? 1 : 0;
    });
  });
  std::vector<uint64_t> poisoned(poisonings.size());
  for (size_t p = 0; p < by_part.size(); ++p) poisoned[batch.parts()[p].item] += by_part[p];
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

Result<std::vector<CompareReport>> CpuDevice::CompareArrays(std::span<const ArrayPair> pairs) {
  Batch batch;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const ArrayPair& pair = pairs[i];
    TOUCHSTONE_RETURN_IF_ERROR(Within(*pair.actual, pair.actual_offset, pair.count * SizeOf(pair.dtype)));
    TOUCHSTONE_RETURN_IF_ERROR(Within(*pair.expected, pair.expected_offset, pair.count * SizeOf(pair.expected_dtype)));
    batch.Add(i, pair.count, SizeOf(pair.dtype), 1);
  }
  std::vector<CompareReport> by_part(batch.parts().size());
  batch.Run(workers_, [&](const Batch::Part& part, size_t p) {
    const ArrayPair& pair = pairs[part.item];
    // The root mean square is judged over the whole, so the parts are compared without it.
    const Tolerance elementwise{pair.tolerance.rtol, pair.tolerance.atol, 0};
    by_part[p] = Compare(pair.dtype, DataOf(*pair.actual) + pair.actual_offset + part.first * SizeOf(pair.dtype),
                         pair.expected_dtype,
                         DataOf(*pair.expected) + pair.expected_offset + part.first * SizeOf(pair.expected_dtype),
                         part.count, elementwise);
  });
  std::vector<CompareReport> reports(pairs.size());
  for (size_t p = 0; p < by_part.size(); ++p) {
    CompareReport& report = reports[batch.parts()[p].item];
    report = ReportOnWhole(report, by_part[p]);
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    const double rms = pairs[i].tolerance.rms;
    reports[i].rms_exceeded = rms > 0 && !(reports[i].rms_error <= rms * reports[i].rms_expected);
  }
  return reports;
}

}  // namespace touchstone
