#include "reward/judge/output_place.h"

#include <algorithm>
#include <optional>
#include <string>

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

}  // namespace

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
