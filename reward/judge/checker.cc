#include "reward/judge/checker.h"

#include <algorithm>
#include <cmath>

#include "reward/judge/output_place.h"
#include "reward/public_view.h"

namespace touchstone {
namespace {

bool IsDense(const StridedArray& array) {
  int64_t stride = 1;
  for (size_t d = array.dims.size(); d-- > 0;) {
    if (array.dims[d] != 1 && array.strides[d] != stride) return false;
    stride *= array.dims[d];
  }
  return true;
}

Tolerance Widened(Tolerance tolerance, double factor) {
  return {tolerance.rtol * factor, tolerance.atol * factor, tolerance.rms * factor};
}

// Feedback tells magnitudes as powers of two (design: V14).
std::string PowerOfTwo(double value) {
  if (!(value > 0) || !std::isfinite(value)) return "0";
  return "2^" + std::to_string(std::ilogb(RoundToPowerOfTwo(value)));
}

bool IsHidden(const std::string& kind) { return kind.rfind("hidden", 0) == 0; }

}  // namespace

Result<std::vector<Expected>> Checker::Expect(const Side& reference, const Turn& turn, std::span<const uint32_t> sets,
                                              size_t i, bool oracle, uint64_t slot) {
  std::vector<Expected> expected;
  for (size_t o = 0; o < reference.layout().outputs.size(); ++o) {
    TOUCHSTONE_ASSIGN(const StridedArray array, reference.Output(turn, sets, i, o, oracle));
    const TensorLayout& tensor = reference.layout().tensors[reference.layout().outputs[o]];
    if (IsDense(array) && !oracle) {
      expected.push_back({&reference.block(), array.offset, array.dtype});
      continue;
    }
    auto& dense = dense_[{slot, o}];
    const size_t bytes = std::max<size_t>(tensor.count * SizeOf(array.dtype), 1);
    if (!dense || dense->size() < bytes) {
      TOUCHSTONE_ASSIGN(dense, device_.AllocatePrivate(bytes));
    }
    TOUCHSTONE_RETURN_IF_ERROR(device_.Gather(reference.block(), array, *dense, 0));
    expected.push_back({dense.get(), 0, array.dtype});
  }
  return expected;
}

std::string Checker::Describe(const Side& candidate, const CallSlot& slot, size_t o, const CompareReport& report,
                              const std::string& kind) const {
  std::string text = "output '" + task_.outputs[o].tensor.name + "'";
  if (IsHidden(kind)) return text + " is wrong in a hidden trial";
  // Whoever has seen a hidden trial could tell by the size of an error what it saw.
  if (kind != "declared") return text + " is wrong in a timed call";
  text += ": ";
  const auto left = candidate.CountUnwritten(slot, o, key_);
  const auto bytes = static_cast<double>(candidate.layout().tensors[candidate.layout().outputs[o]].bytes);
  // Written bytes equal the poison by chance once in 256 times.
  const double by_chance = bytes / 256;
  const double unwritten = left.ok() ? static_cast<double>(*left) - by_chance : 0;
  if (unwritten > 8 + 5 * std::sqrt(by_chance)) {
    return text + "about " + PowerOfTwo(unwritten) + " of its bytes were never written";
  }
  if (report.nonfinite_mismatches > 0) {
    return text + PowerOfTwo(static_cast<double>(report.nonfinite_mismatches)) +
           " elements are NaN or Inf on one side only";
  }
  if (report.mismatches > 0) {
    return text + "about " + PowerOfTwo(static_cast<double>(report.mismatches)) + " of " +
           std::to_string(report.count) + " elements are out of tolerance, by up to " + PowerOfTwo(report.max_abs);
  }
  return text + "its root mean square error is " + PowerOfTwo(report.rms_error / report.rms_expected) +
         " of the values, more than the declared precision allows";
}

Result<Expected> Checker::Dense(const Side& candidate, const StridedArray& array, size_t o,
                                std::vector<std::unique_ptr<DeviceBlock>>& copies) {
  if (IsDense(array)) return Expected{&candidate.block(), array.offset, array.dtype};
  const TensorLayout& tensor = candidate.layout().tensors[candidate.layout().outputs[o]];
  TOUCHSTONE_ASSIGN(auto copy, device_.AllocatePrivate(std::max<uint64_t>(tensor.bytes, 1)));
  TOUCHSTONE_RETURN_IF_ERROR(device_.Gather(candidate.block(), array, *copy, 0));
  copies.push_back(std::move(copy));
  return Expected{copies.back().get(), 0, array.dtype};
}

void Checker::TakeReport(const Side& candidate, const CallSlot& slot, size_t o, const CompareReport& report,
                         const std::string& kind, int trial, std::optional<Fate>& fate) {
  TrialRecord row;
  row.kind = kind;
  row.trial = trial;
  row.output = task_.outputs[o].tensor.name;
  row.candidate = report;
  if (o < reference_reports_.size()) row.reference = reference_reports_[o];
  if (kind == "window" || kind == "solo") {
    auto [merged, fresh] = merged_.try_emplace({kind, o}, row);
    if (!fresh) merged->second.candidate = WorstOf(merged->second.candidate, report);
  } else {
    record_.trials.push_back(row);
  }
  if (!report.passed() && !fate) {
    fate = Fate{EvalStatus::kIncorrect, Describe(candidate, slot, o, report, kind), ""};
  }
}

void Checker::TakeDamage(uint64_t count, const char* id, const char* unit, const char* explanation, const char* reason,
                         std::optional<Fate>& fate) {
  if (count == 0) return;
  record_.evidence.push_back({id, Evidence::Severity::kCondemns, explanation, {{unit, static_cast<double>(count)}}});
  if (!fate) fate = Fate{EvalStatus::kIncorrect, reason, ""};
}

Result<std::optional<Fate>> Checker::CheckCalls(const Side& candidate, const Turn& turn,
                                                std::span<const CallSlot> slots,
                                                std::span<const std::vector<Expected>> expected, double widen,
                                                const std::string& kind, int trial) {
  const auto sets = SetsOf(slots);
  const size_t outputs = task_.outputs.size();
  std::vector<ArrayPair> pairs;
  std::vector<PlacedOutput> placed;
  std::vector<std::unique_ptr<DeviceBlock>> copies;
  for (size_t i = 0; i < slots.size(); ++i) {
    for (size_t o = 0; o < outputs; ++o) {
      const auto array = candidate.Output(turn, sets, i, o, false);
      if (!array.ok()) return std::optional<Fate>(Fate{EvalStatus::kIncorrect, array.error().message(), ""});
      if (candidate.Places(o)) placed.push_back({task_.outputs[o].tensor.name, *array});
      TOUCHSTONE_ASSIGN(const Expected actual, Dense(candidate, *array, o, copies));
      const Expected& right = expected[i][o];
      const uint64_t count = candidate.layout().tensors[candidate.layout().outputs[o]].count;
      pairs.push_back({actual.block, actual.offset, actual.dtype, right.block, right.offset, right.dtype, count,
                       Widened(task_.outputs[o].tolerance, widen)});
    }
  }
  // What two outputs share, one of them has overwritten, be it with the right values.
  if (auto disjoint = CheckDisjoint(placed); !disjoint.ok()) {
    return std::optional<Fate>(Fate{EvalStatus::kIncorrect, disjoint.error().message(), ""});
  }
  TOUCHSTONE_ASSIGN(const auto reports, device_.CompareArrays(pairs));
  TOUCHSTONE_ASSIGN(const auto changed, candidate.CountChangedInputs(slots));
  TOUCHSTONE_ASSIGN(const auto damaged, candidate.CountDamagedGuards(slots, key_));
  std::optional<Fate> fate;
  for (size_t i = 0; i < slots.size() && !fate; ++i) {
    for (size_t o = 0; o < outputs; ++o) {
      TakeReport(candidate, slots[i], o, reports[i * outputs + o], kind, trial, fate);
    }
    TakeDamage(changed[i], "input_mutated", "elements", "elements of a read-only input were changed",
               "a read-only input was changed", fate);
    TakeDamage(damaged[i], "guard_damaged", "bytes", "bytes beside a tensor were overwritten",
               "memory beside a tensor was overwritten", fate);
  }
  return fate;
}

Result<std::vector<CompareReport>> Checker::Measure(std::span<const Expected> actual, std::span<const Expected> oracle,
                                                    const SetLayout& layout) {
  std::vector<ArrayPair> pairs;
  for (size_t o = 0; o < actual.size(); ++o) {
    pairs.push_back({actual[o].block, actual[o].offset, actual[o].dtype, oracle[o].block, oracle[o].offset,
                     oracle[o].dtype, layout.tensors[layout.outputs[o]].count, task_.outputs[o].tolerance});
  }
  return device_.CompareArrays(pairs);
}

void Checker::Finish() {
  for (auto& [key, row] : merged_) record_.trials.push_back(std::move(row));
  merged_.clear();
}

}  // namespace touchstone
