// Every byte of an answer page may come from hostile code, and may be of any value when the judge copies it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "reward/judge/output_place.h"
#include "sandbox/runner/link.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

namespace {

constexpr uint64_t kArenaBegin = 4096;
constexpr uint64_t kBlockBytes = uint64_t{1} << 20;

// Whether every element of an accepted array lies in the arena, computed in another way than the judge does.
bool InsideArena(const StridedArray& array) {
  for (uint32_t corner = 0; corner < (1U << array.dims.size()); ++corner) {
    __int128 offset = array.offset;
    for (size_t d = 0; d < array.dims.size(); ++d) {
      const __int128 index = ((corner >> d) & 1U) != 0 ? array.dims[d] - 1 : 0;
      offset += index * array.strides[d] * static_cast<__int128>(SizeOf(array.dtype));
    }
    if (offset < kArenaBegin || offset + static_cast<__int128>(SizeOf(array.dtype)) > kBlockBytes) return false;
  }
  return true;
}

// The declared tensor is what the place claims, so that the other checks are reached.
void CheckOnePlace(const OutputPlace& place) {
  TensorLayout tensor;
  tensor.name = "y";
  tensor.dtype = place.dtype % 2 == 0 ? DType::kFloat64 : DType::kFloat32;
  for (uint32_t d = 0; d < std::min(place.rank, kMaxRank); ++d) {
    tensor.dims.push_back(std::clamp<int64_t>(place.dims[d], 1, int64_t{1} << 40));
  }
  OutputPlace claim = place;
  claim.dtype = static_cast<uint32_t>(tensor.dtype);
  const auto array = CheckPlace(claim, tensor, tensor.dtype, kArenaBegin, kBlockBytes);
  if (array.ok()) FUZZ_EXPECT(array->dims == tensor.dims && InsideArena(*array));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  // The page is more than a megabyte: one buffer for all runs, filled from its start with what the fuzzer gives.
  static const auto page = std::make_unique<AnswerPage>();
  const size_t expected_places = data[0] * size_t{64};
  auto* const bytes = reinterpret_cast<uint8_t*>(page.get());
  std::fill_n(bytes, 4096, data[1]);
  std::copy_n(data + 2, std::min(size - 2, sizeof(AnswerPage)), bytes);

  const RunnerAnswer answer = CopyAnswer(*page, expected_places);
  FUZZ_EXPECT(answer.status <= RunnerStatus::kUnsupported);
  FUZZ_EXPECT(answer.message.size() <= sizeof(page->message));
  for (const char c : answer.message) FUZZ_EXPECT((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t');
  FUZZ_EXPECT(answer.places.empty() || (answer.places.size() == expected_places && expected_places <= kMaxPlaces));

  OutputPlace place{};
  std::memcpy(&place, data, std::min(size, sizeof(place)));
  CheckOnePlace(place);
  return 0;
}
