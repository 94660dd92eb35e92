#include "reward/judge/output_place.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace touchstone {
namespace {

// Number of elements between the first and the last one that a strided array touches, plus one; nullopt when a stride
// is negative or the product leaves 63 bits.
std::optional<uint64_t> Extent(const OutputPlace& place) {
  unsigned __int128 last = 0;
  for (uint32_t d = 0; d < place.rank; ++d) {
    if (place.dims[d] < 0 || place.strides[d] < 0) return std::nullopt;
    if (place.dims[d] == 0) return 0;
    last += static_cast<unsigned __int128>(place.dims[d] - 1) * static_cast<uint64_t>(place.strides[d]);
    if (last > (uint64_t{1} << 48)) return std::nullopt;
  }
  return static_cast<uint64_t>(last) + 1;
}

// Calls `visit(offset)` for the place of every different element, until it returns false.
template <typename Visit>
bool ForElements(const StridedArray& array, size_t dim, uint64_t offset, const Visit& visit) {
  if (dim == array.dims.size()) return visit(offset);
  const uint64_t step = static_cast<uint64_t>(array.strides[dim]) * SizeOf(array.dtype);
  const int64_t places = step == 0 ? std::min<int64_t>(array.dims[dim], 1) : array.dims[dim];
  for (int64_t i = 0; i < places; ++i) {
    if (!ForElements(array, dim + 1, offset + static_cast<uint64_t>(i) * step, visit)) return false;
  }
  return true;
}

// The first byte of an array, and the byte after its last one; equal where it has no elements.
std::pair<uint64_t, uint64_t> RangeOf(const StridedArray& array) {
  uint64_t last = 0;
  for (size_t d = 0; d < array.dims.size(); ++d) {
    if (array.dims[d] == 0) return {array.offset, array.offset};
    last += static_cast<uint64_t>(array.dims[d] - 1) * static_cast<uint64_t>(array.strides[d]);
  }
  return {array.offset, array.offset + (last + 1) * SizeOf(array.dtype)};
}

// Which bytes of a range some output has taken.
class TakenBytes {
 public:
  explicit TakenBytes(uint64_t first) : first_(first) {}

  // False when a byte of `array` is taken already; takes them otherwise.
  bool Take(const StridedArray& array) {
    const uint64_t size = SizeOf(array.dtype);
    taken_.resize(std::max<size_t>(taken_.size(), RangeOf(array).second - first_));
    const bool free = ForElements(array, 0, array.offset, [&](uint64_t offset) {
      const auto at = taken_.begin() + static_cast<long>(offset - first_);
      return std::find(at, at + static_cast<long>(size), true) == at + static_cast<long>(size);
    });
    if (!free) return false;
    return ForElements(array, 0, array.offset, [&](uint64_t offset) {
      std::fill_n(taken_.begin() + static_cast<long>(offset - first_), size, true);
      return true;
    });
  }

 private:
  uint64_t first_;
  std::vector<bool> taken_;
};

}  // namespace

Status CheckDisjoint(std::span<const PlacedOutput> outputs) {
  struct Range {
    uint64_t begin, end;
    const PlacedOutput* output;
  };
  std::vector<Range> ranges;
  for (const PlacedOutput& output : outputs) {
    const auto [begin, end] = RangeOf(output.array);
    if (begin < end) ranges.push_back({begin, end, &output});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  // Ranges that reach into each other make a group, whose elements are looked at one by one.
  for (size_t first = 0; first < ranges.size();) {
    size_t end = first + 1;
    for (uint64_t reach = ranges[first].end; end < ranges.size() && ranges[end].begin < reach; ++end) {
      reach = std::max(reach, ranges[end].end);
    }
    TakenBytes taken(ranges[first].begin);
    for (size_t i = first; end - first > 1 && i < end; ++i) {
      if (taken.Take(ranges[i].output->array)) continue;
      return Error(ErrorCode::kInvalidArgument, "output '" + ranges[i].output->name + "' overlaps another output");
    }
    first = end;
  }
  return {};
}

Result<StridedArray> CheckPlace(const OutputPlace& place, const TensorLayout& tensor, DType dtype, uint64_t arena_begin,
                                uint64_t block_bytes) {
  const auto bad = [&](const char* why) {
    return Error(ErrorCode::kInvalidArgument, "output '" + tensor.name + "' " + why);
  };
  if (place.rank != tensor.dims.size() || place.rank > kMaxRank ||
      !std::equal(tensor.dims.begin(), tensor.dims.end(), place.dims)) {
    return bad("has another shape than declared");
  }
  if (place.dtype != static_cast<uint32_t>(dtype)) return bad("has another dtype than declared");
  const auto extent = Extent(place);
  if (!extent) return bad("has impossible strides");
  const uint64_t bytes = *extent * SizeOf(dtype);
  if (place.offset > block_bytes || bytes > block_bytes - place.offset) return bad("lies outside the block");
  if (place.offset < arena_begin) return bad("overlaps the inputs");
  if (place.offset % SizeOf(dtype) != 0) return bad("is not aligned");
  StridedArray array;
  array.offset = place.offset;
  array.dtype = dtype;
  array.dims = tensor.dims;
  array.strides.assign(place.strides, place.strides + place.rank);
  return array;
}

}  // namespace touchstone
