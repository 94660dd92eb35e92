#include "reward/judge/checker.h"

#include <algorithm>
#include <cmath>

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

void Merge(CompareReport& into, const CompareReport& from) {
  if (into.mismatches == 0) into.first_mismatch = from.first_mismatch;
  into.count += from.count;
  into.mismatches += from.mismatches;
  into.nonfinite_mismatches += from.nonfinite_mismatches;
  into.max_abs = std::max(into.max_abs, from.max_abs);
  into.max_rel = std::max(into.max_rel, from.max_rel);
  into.rms_error = std::max(into.rms_error, from.rms_error);
  into.rms_expected = std::max(into.rms_expected, from.rms_expected);
  into.rms_exceeded = into.rms_exceeded || from.rms_exceeded;
}

bool IsHidden(const std::string& kind) { return kind.rfind("hidden", 0) == 0; }

}  // namespace

std::vector<uint32_t> SetsOf(std::span<const CallSlot> slots) {
  std::vector<uint32_t> sets;
  sets.reserve(slots.size());
  for (const CallSlot& slot : slots) sets.push_back(slot.set);
  return sets;
}

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
  const auto left = candidate.CountUnwritten(slot.set, o, key_, slot.call);
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

Result<std::optional<Fate>> Checker::CheckCall(const Side& candidate, const Turn& turn, std::span<const uint32_t> sets,
                                               size_t i, const CallSlot& slot, std::span<const Expected> expected,
                                               double widen, const std::string& kind, int trial) {
  std::optional<Fate> fate;
  const auto condemn = [&](EvalStatus status, std::string reason) {
    if (!fate) fate = Fate{status, std::move(reason), ""};
  };
  for (size_t o = 0; o < task_.outputs.size(); ++o) {
    const auto array = candidate.Output(turn, sets, i, o, false);
    if (!array.ok()) {
      condemn(EvalStatus::kIncorrect, array.error().message());
      continue;
    }
    const TensorLayout& tensor = candidate.layout().tensors[candidate.layout().outputs[o]];
    Expected actual{&candidate.block(), array->offset, array->dtype};
    std::unique_ptr<DeviceBlock> gathered;
    if (!IsDense(*array)) {
      TOUCHSTONE_ASSIGN(gathered, device_.AllocatePrivate(std::max<uint64_t>(tensor.bytes, 1)));
      TOUCHSTONE_RETURN_IF_ERROR(device_.Gather(candidate.block(), *array, *gathered, 0));
      actual = {gathered.get(), 0, array->dtype};
    }
    TOUCHSTONE_ASSIGN(
        const CompareReport report,
        device_.CompareArrays(*actual.block, actual.offset, actual.dtype, *expected[o].block, expected[o].offset,
                              expected[o].dtype, tensor.count, Widened(task_.outputs[o].tolerance, widen)));
    TrialRecord row;
    row.kind = kind;
    row.trial = trial;
    row.output = task_.outputs[o].tensor.name;
    row.candidate = report;
    if (o < reference_reports_.size()) row.reference = reference_reports_[o];
    if (kind == "window" || kind == "solo") {
      auto [merged, fresh] = merged_.try_emplace({kind, o}, row);
      if (!fresh) Merge(merged->second.candidate, report);
    } else {
      record_.trials.push_back(row);
    }
    if (!report.passed()) condemn(EvalStatus::kIncorrect, Describe(candidate, slot, o, report, kind));
  }
  TOUCHSTONE_ASSIGN(const uint64_t changed, candidate.CountChangedInputs(slot.set, slot.inputs));
  if (changed > 0) {
    record_.evidence.push_back({"input_mutated",
                                Evidence::Severity::kCondemns,
                                "elements of a read-only input were changed",
                                {{"elements", double(changed)}}});
    condemn(EvalStatus::kIncorrect, "a read-only input was changed");
  }
  TOUCHSTONE_ASSIGN(const uint64_t damaged, candidate.CountDamagedGuards(slot.set, key_, slot.call));
  if (damaged > 0) {
    record_.evidence.push_back({"guard_damaged",
                                Evidence::Severity::kCondemns,
                                "bytes beside a tensor were overwritten",
                                {{"bytes", double(damaged)}}});
    condemn(EvalStatus::kIncorrect, "memory beside a tensor was overwritten");
  }
  return fate;
}

Result<std::vector<CompareReport>> Checker::Measure(std::span<const Expected> actual, std::span<const Expected> oracle,
                                                    const SetLayout& layout) {
  std::vector<CompareReport> reports;
  for (size_t o = 0; o < actual.size(); ++o) {
    TOUCHSTONE_ASSIGN(
        CompareReport report,
        device_.CompareArrays(*actual[o].block, actual[o].offset, actual[o].dtype, *oracle[o].block, oracle[o].offset,
                              oracle[o].dtype, layout.tensors[layout.outputs[o]].count, task_.outputs[o].tolerance));
    reports.push_back(report);
  }
  return reports;
}

void Checker::Finish() {
  for (auto& [key, row] : merged_) record_.trials.push_back(std::move(row));
  merged_.clear();
}

}  // namespace touchstone
