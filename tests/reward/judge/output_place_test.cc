#include "reward/judge/output_place.h"

#include <gtest/gtest.h>

#include <vector>

namespace touchstone {
namespace {

constexpr uint64_t kArena = 4096;
constexpr uint64_t kBlock = 65536;

TensorLayout Matrix() {
  TensorLayout tensor;
  tensor.name = "y";
  tensor.dims = {4, 8};
  tensor.count = 32;
  tensor.bytes = 128;
  return tensor;
}

OutputPlace Claim(uint64_t offset) {
  OutputPlace place{};
  place.offset = offset;
  place.dtype = static_cast<uint32_t>(DType::kFloat32);
  place.rank = 2;
  place.dims[0] = 4;
  place.dims[1] = 8;
  place.strides[0] = 8;
  place.strides[1] = 1;
  return place;
}

std::string Refusal(const OutputPlace& place) {
  const auto array = CheckPlace(place, Matrix(), DType::kFloat32, kArena, kBlock);
  return array.ok() ? "" : array.error().message();
}

TEST(OutputPlace, LiesInTheArenaAndHasTheDeclaredForm) {
  EXPECT_EQ(Refusal(Claim(kArena)), "");
  EXPECT_EQ(Refusal(Claim(kBlock - 128)), "");
  // The inputs are not in the arena: a claim that an output is one of them, or reaches into them, is refused.
  EXPECT_EQ(Refusal(Claim(0)), "output 'y' overlaps the inputs");
  EXPECT_EQ(Refusal(Claim(kArena - 4)), "output 'y' overlaps the inputs");
  EXPECT_EQ(Refusal(Claim(kBlock - 124)), "output 'y' lies outside the block");
  EXPECT_EQ(Refusal(Claim(~uint64_t{0})), "output 'y' lies outside the block");
  EXPECT_EQ(Refusal(Claim(kArena + 1)), "output 'y' is not aligned");
  OutputPlace place = Claim(kArena);
  place.strides[0] = int64_t{1} << 60;
  EXPECT_EQ(Refusal(place), "output 'y' has impossible strides");
  place = Claim(kArena);
  place.strides[0] = -8;
  EXPECT_EQ(Refusal(place), "output 'y' has impossible strides");
  place = Claim(kArena);
  place.dims[1] = 7;
  EXPECT_EQ(Refusal(place), "output 'y' has another shape than declared");
  place.rank = 100;
  EXPECT_EQ(Refusal(place), "output 'y' has another shape than declared");
  place = Claim(kArena);
  place.dtype = 77;
  EXPECT_EQ(Refusal(place), "output 'y' has another dtype than declared");
}

PlacedOutput Placed(const std::string& name, uint64_t offset, std::vector<int64_t> dims, std::vector<int64_t> strides,
                    DType dtype = DType::kFloat32) {
  return {name, {offset, dtype, std::move(dims), std::move(strides)}};
}

std::string Overlap(std::vector<PlacedOutput> outputs) {
  const Status status = CheckDisjoint(outputs);
  return status.ok() ? "" : status.error().message();
}

// One computation for two outputs, or for two calls: the last one to write decides what both are.
TEST(OutputPlace, OutputsThatShareMemoryAreRefused) {
  const PlacedOutput a = Placed("a", 4096, {8}, {1});
  EXPECT_EQ(Overlap({a, Placed("b", 4096, {8}, {1})}), "output 'b' overlaps another output");
  EXPECT_NE(Overlap({a, Placed("b", 4096 + 28, {8}, {1})}), "");
  EXPECT_NE(Overlap({Placed("b", 4096 + 28, {8}, {1}), a}), "");
  EXPECT_NE(Overlap({a, Placed("far", 9000, {8}, {1}), Placed("b", 4100, {2}, {1})}), "");
  // Inside a wide one, behind a short one.
  EXPECT_NE(Overlap({Placed("wide", 4096, {100}, {1}), Placed("short", 5000, {1}, {1}), Placed("b", 4400, {2}, {1})}),
            "");
  // A column of a matrix, and the last byte of a double.
  EXPECT_NE(Overlap({Placed("m", 4096, {4, 8}, {8, 1}), Placed("c", 4096 + 12, {4}, {8})}), "");
  EXPECT_NE(Overlap({Placed("d", 4096, {1}, {1}, DType::kFloat64), Placed("b", 4103, {1}, {1}, DType::kUInt8)}), "");
  // An expanded one: its one element.
  EXPECT_NE(Overlap({Placed("e", 4100, {1000}, {0}), a}), "");
}

// The honest twin: what lies beside or between each other.
TEST(OutputPlace, OutputsBesideAndBetweenEachOtherAreFine) {
  EXPECT_EQ(Overlap({}), "");
  EXPECT_EQ(Overlap({Placed("a", 4096, {8}, {1}), Placed("b", 4128, {8}, {1})}), "");
  EXPECT_EQ(Overlap({Placed("even", 4096, {8}, {2}), Placed("odd", 4100, {8}, {2})}), "");
  EXPECT_EQ(Overlap({Placed("left", 4096, {4, 4}, {8, 1}), Placed("right", 4112, {4, 4}, {8, 1})}), "");
  EXPECT_EQ(Overlap({Placed("none", 4096, {0, 8}, {8, 1}), Placed("b", 4096, {8}, {1})}), "");
  // With itself an array may share what it likes: it is read as it is.
  EXPECT_EQ(Overlap({Placed("e", 4096, {1000}, {0}), Placed("b", 4100, {8}, {1})}), "");
  EXPECT_EQ(Overlap({Placed("windows", 4096, {6, 3}, {1, 1}), Placed("b", 4128, {8}, {1})}), "");
  EXPECT_EQ(Overlap({Placed("windows", 4096, {6, 3}, {2, 2}), Placed("odd", 4100, {7}, {2})}), "");
}

}  // namespace
}  // namespace touchstone
