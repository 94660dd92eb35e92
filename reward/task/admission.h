// Whether a task can tell right from wrong (design: V9). Pure functions over buffers; check_task.h makes the buffers.
#ifndef TOUCHSTONE_REWARD_TASK_ADMISSION_H_
#define TOUCHSTONE_REWARD_TASK_ADMISSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reward/task/task.h"
#include "reward/task/tensor_data.h"
#include "reward/verdict/compare.h"

namespace touchstone {

// What the reference computed. Every list of outputs has the order of Task::outputs.
struct AdmissionData {
  DimValues dims;
  std::vector<TensorData> inputs;     // as they were before the call
  std::vector<TensorData> reference;  // in the task's own precision
  std::vector<TensorData> oracle;     // in float64
  std::vector<TensorData> previous;   // of a call on other inputs
  // Of the same call with all inputs rounded that have a LowerPrecision(); empty where none has.
  std::vector<TensorData> rounded_inputs;
  // One for each input: of the same call with this input alone taken from another one.
  std::vector<std::vector<TensorData>> other_input;
};

// What became of one wrong output.
struct MutantReport {
  enum class Fate {
    kCaught,
    kMissed,      // the check would accept it: the task is refused
    kEquivalent,  // it is what the reference gave, bit for bit: no mutant
    kInformed,    // accepted, but may be right: half-precision inputs can leave an index or a count as it is
  };
  std::string output;
  std::string mutant;
  Fate fate = Fate::kCaught;
  CompareReport compare;
};
std::string_view ToString(MutantReport::Fate fate);

struct OutputReport {
  std::string output;
  CompareReport reference;    // against the oracle: the noise floor
  double tolerance_used = 0;  // by the worst element, or by the root mean square; 1 is all of it
  double lower_distance = 0;  // the same number for rounding to LowerPrecision(), where there is one: the budget's end
};

struct AdmissionReport {
  std::string task;
  DimValues dims;
  std::vector<OutputReport> outputs;
  std::vector<MutantReport> mutants;
  std::vector<std::string> findings;  // why the task is refused, for people; empty: admitted
  int64_t floor_bytes = 0;            // 0: unknown
  int64_t floor_flops = 0;
  double reference_us = 0;        // of one call, when measured
  double reference_gb_per_s = 0;  // floor_bytes over reference_us
  double reference_gflop_per_s = 0;

  bool admitted() const { return findings.empty(); }
};

// The reference itself may use this share of the tolerance.
inline constexpr double kReferenceMargin = 0.5;

// How much of the tolerance `actual` uses: the largest |x - o| / (atol + rtol·|o|) or rms(x - o) / (rms · rms(o)).
// Infinite where nothing is allowed and something differs, or where only one side is finite.
double ToleranceUsed(const TensorData& actual, const TensorData& oracle, const Tolerance& tolerance);

// Findings: the reference uses more than its margin; a mutant is missed; all elements of an output are equal; an output
// does not depend on any input; the outputs together do not depend on some input; more than half of an output is not
// finite; an output is smaller than `kMinimumElements`.
inline constexpr uint64_t kMinimumElements = 2;
AdmissionReport Admit(const Task& task, const AdmissionData& data);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_ADMISSION_H_
