#include "reward/task/admission.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/result.h"
#include "reward/task/mutants.h"

namespace touchstone {
namespace {

CompareReport CompareTensors(const TensorData& actual, const TensorData& oracle, const Tolerance& tolerance) {
  return Compare(actual.dtype, actual.bytes.data(), oracle.dtype, oracle.bytes.data(), actual.count(), tolerance);
}

bool AllElementsEqual(const TensorData& tensor) {
  const size_t size = SizeOf(tensor.dtype);
  return std::memcmp(tensor.bytes.data(), tensor.bytes.data() + size, tensor.bytes.size() - size) == 0;
}

uint64_t CountNonFinite(const TensorData& oracle) {
  if (oracle.dtype != DType::kFloat64) return 0;
  uint64_t count = 0;
  for (uint64_t i = 0; i < oracle.count(); ++i) count += std::isfinite(FloatAt(oracle, i)) ? 0 : 1;
  return count;
}

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f %%", 100 * share);
  return text;
}

class Admission {
 public:
  Admission(const Task& task, const AdmissionData& data) : task_(task), data_(data) {}

  AdmissionReport Run() {
    report_.task = task_.id;
    report_.dims = data_.dims;
    for (size_t o = 0; o < task_.outputs.size(); ++o) {
      CheckReference(o);
      CheckDegenerate(o);
      CheckMutants(o);
    }
    CheckInputsMatter();
    report_.floor_bytes = Floor(task_.floor_bytes);
    report_.floor_flops = Floor(task_.floor_flops);
    return std::move(report_);
  }

 private:
  void Find(size_t output, const std::string& what) {
    report_.findings.push_back("output '" + task_.outputs[output].tensor.name + "': " + what);
  }

  void CheckReference(size_t o) {
    OutputReport report;
    report.output = task_.outputs[o].tensor.name;
    report.reference = CompareTensors(data_.reference[o], data_.oracle[o], task_.outputs[o].tolerance);
    report.tolerance_used = ToleranceUsed(data_.reference[o], data_.oracle[o], task_.outputs[o].tolerance);
    if (!report.reference.passed() || report.tolerance_used > kReferenceMargin) {
      Find(o, "the reference uses " + Percent(report.tolerance_used) + " of its tolerance, the limit is " +
                  Percent(kReferenceMargin));
    }
    report_.outputs.push_back(std::move(report));
  }

  void CheckDegenerate(size_t o) {
    const TensorData& right = data_.reference[o];
    if (right.count() < kMinimumElements) {
      Find(o, std::to_string(right.count()) + " elements, the minimum is " + std::to_string(kMinimumElements));
    } else if (AllElementsEqual(right)) {
      Find(o, "all elements are equal");
    }
    if (data_.previous[o].bytes == right.bytes) Find(o, "two calls on different inputs give the same");
    if (2 * CountNonFinite(data_.oracle[o]) > right.count()) Find(o, "more than half of it is not finite");
  }

  void CheckMutants(size_t o) {
    const TensorData& right = data_.reference[o];
    std::vector<std::pair<std::string, TensorData>> inputs;
    for (size_t i = 0; i < task_.inputs.size(); ++i) inputs.emplace_back(task_.inputs[i].name, data_.inputs[i]);
    for (const Mutant& mutant : MakeMutants(right, data_.previous[o], inputs)) {
      Judge(o, mutant.name, mutant.output, false);
      if (const auto lower = LowerPrecision(right.dtype); lower && mutant.name == ToString(*lower)) {
        report_.outputs[o].lower_distance = ToleranceUsed(mutant.output, data_.oracle[o], task_.outputs[o].tolerance);
      }
    }
    if (!data_.rounded_inputs.empty()) {
      Judge(o, RoundedInputsName(), data_.rounded_inputs[o], !IsFloating(right.dtype));
    }
  }

  // "float16_inputs", after the first input that is rounded.
  std::string RoundedInputsName() const {
    for (const TensorSpec& input : task_.inputs) {
      if (const auto lower = LowerPrecision(input.dtype)) return std::string(ToString(*lower)) + "_inputs";
    }
    return "rounded_inputs";
  }

  void Judge(size_t o, const std::string& name, const TensorData& mutant, bool may_be_right) {
    MutantReport report;
    report.output = task_.outputs[o].tensor.name;
    report.mutant = name;
    report.compare = CompareTensors(mutant, data_.oracle[o], task_.outputs[o].tolerance);
    if (mutant.bytes == data_.reference[o].bytes) {
      report.fate = MutantReport::Fate::kEquivalent;
    } else if (report.compare.passed()) {
      report.fate = may_be_right ? MutantReport::Fate::kInformed : MutantReport::Fate::kMissed;
      if (!may_be_right) Find(o, "the check accepts the mutant '" + name + "'");
    }
    report_.mutants.push_back(std::move(report));
  }

  void CheckInputsMatter() {
    for (size_t i = 0; i < data_.other_input.size(); ++i) {
      bool differs = false;
      for (size_t o = 0; o < task_.outputs.size(); ++o) {
        differs = differs || data_.other_input[i][o].bytes != data_.reference[o].bytes;
      }
      if (!differs) report_.findings.push_back("input '" + task_.inputs[i].name + "': no output depends on it");
    }
  }

  int64_t Floor(const std::string& expression) const {
    if (expression.empty()) return 0;
    const auto value = Evaluate(expression, data_.dims);
    return value.ok() ? *value : 0;  // the loader has evaluated it for every size
  }

  const Task& task_;
  const AdmissionData& data_;
  AdmissionReport report_;
};

}  // namespace

std::string_view ToString(MutantReport::Fate fate) {
  switch (fate) {
    case MutantReport::Fate::kCaught:
      return "caught";
    case MutantReport::Fate::kMissed:
      return "missed";
    case MutantReport::Fate::kEquivalent:
      return "equivalent";
    case MutantReport::Fate::kInformed:
      return "informed";
  }
  return "unknown";
}

double ToleranceUsed(const TensorData& actual, const TensorData& oracle, const Tolerance& tolerance) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  if (!IsFloating(actual.dtype) || oracle.dtype != DType::kFloat64)
    return CompareTensors(actual, oracle, tolerance).passed() ? 0 : kAll;
  double used = 0;
  double error_squares = 0;
  double squares = 0;
  for (uint64_t i = 0; i < actual.count(); ++i) {
    const double x = FloatAt(actual, i);
    const double o = FloatAt(oracle, i);
    if (!std::isfinite(x) || !std::isfinite(o)) {
      if (!(x == o || (std::isnan(x) && std::isnan(o)))) return kAll;
      continue;
    }
    const double error = std::fabs(x - o);
    const double allowed = tolerance.atol + tolerance.rtol * std::fabs(o);
    if (error > 0) used = std::max(used, allowed > 0 ? error / allowed : kAll);
    error_squares += error * error;
    squares += o * o;
  }
  if (tolerance.rms > 0 && error_squares > 0) {
    used = std::max(used, squares > 0 ? std::sqrt(error_squares / squares) / tolerance.rms : kAll);
  }
  return used;
}

AdmissionReport Admit(const Task& task, const AdmissionData& data) {
  const size_t outputs = task.outputs.size();
  TOUCHSTONE_CHECK(data.reference.size() == outputs && data.oracle.size() == outputs &&
                       data.previous.size() == outputs && data.inputs.size() == task.inputs.size() &&
                       (data.rounded_inputs.empty() || data.rounded_inputs.size() == outputs),
                   "the data belong to this task");
  return Admission(task, data).Run();
}

}  // namespace touchstone
