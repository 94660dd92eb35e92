// Start here for tasks: what to compute, with reference, inputs, tolerance and policy. Plain data; task_yaml.h fills
// it.
#ifndef TOUCHSTONE_REWARD_TASK_TASK_H_
#define TOUCHSTONE_REWARD_TASK_TASK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace touchstone {

// Values of a task's symbolic dims ("n" → 1048576), in the order in which the signature has them.
using DimValues = std::vector<std::pair<std::string, int64_t>>;

// The family from which the elements of an input are drawn. Everything is a function of (key, call, tensor, index).
struct Distribution {
  enum class Family {
    kUniform,      // [low, high)
    kNormal,       // mean, standard deviation
    kInteger,      // low … high - 1, uniformly; the bounds may be expressions over the dims
    kBernoulli,    // 1 with probability p
    kPermutation,  // each row (last dim) a permutation of 0 … length - 1
    kConstant,     // value
  };
  Family family = Family::kNormal;
  double low = 0;   // or the mean, the probability, the value
  double high = 1;  // or the standard deviation
  // Where not empty, `low`/`high` come from these expressions over the dims (for index ranges).
  std::string low_expression;
  std::string high_expression;
  // Zeros strewn in, for kUniform and kNormal: this share of the elements becomes exactly 0.
  double zero_share = 0;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::string> shape;  // expressions over the dims, e.g. "rows", "n + 1"
  Distribution distribution;       // inputs only
  bool in_place = false;           // an input that the kernel overwrites: it is an output, too
};

// How far an output may be from the oracle (float64, or exact integers). An element passes when
// |x - o| ≤ atol + rtol·|o|; where `rms` > 0 the root mean square of x - o must also be ≤ rms · rms(o).
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  double rms = 0;
};

struct OutputSpec {
  TensorSpec tensor;
  Tolerance tolerance;
};

struct TaskPolicy {
  int threads = 1;             // cores that a CPU candidate may use at once
  bool openmp = false;         // built with -fopenmp
  bool deterministic = false;  // two calls on equal inputs must give equal bits
};

// Extra trials whose shapes are drawn by the judge: each dim uniformly from its range, rounded to a multiple.
struct HiddenDim {
  std::string dim;
  int64_t low = 1;
  int64_t high = 1;
  int64_t multiple = 1;
};

struct Task {
  std::string id;  // "softmax"
  std::string title;
  std::string description;   // for the policy, Markdown
  std::string source_file;   // where it was loaded from
  std::string content_hash;  // of the file's bytes

  std::vector<std::string> dims;           // order of the signature
  std::map<std::string, DimValues> sizes;  // "cpu", "gpu", …
  std::vector<TensorSpec> inputs;          // order of the signature
  std::vector<OutputSpec> outputs;         // in-place inputs come first, in their order; then what is returned
  std::string reference;                   // TorchScript source with `def reference(inputs…, dims…)`
  TaskPolicy policy;
  std::string floor_bytes;  // expressions over the dims; empty: unknown
  std::string floor_flops;
  std::vector<HiddenDim> hidden_shapes;
  std::vector<std::map<std::string, Distribution>> hidden_distributions;  // replacements by input name

  // The dims of a named size, or an error that lists the names there are.
  Result<DimValues> Size(const std::string& name) const;
};

inline constexpr size_t kMaxExpressionBytes = 256;

// Value of an arithmetic expression (+ - * / % ( ) integers, dims; / rounds down) over `dims`.
Result<int64_t> Evaluate(const std::string& expression, const DimValues& dims);
// Every length is ≥ 1 and the number of elements at most 2^40.
Result<std::vector<int64_t>> EvaluateShape(const TensorSpec& tensor, const DimValues& dims);
// The same distribution with numbers for the expressions of its bounds.
Result<Distribution> Resolve(const Distribution& distribution, const DimValues& dims);

// What a `cpp` candidate must define: a C++ header with the types and the declaration
// `extern "C" void run(const float* x, …, float* y, …, int64_t n, …);`: inputs in order (in-place ones not const), then
// the outputs that are not in-place inputs, then the dims.
std::string RenderCppHeader(const Task& task);
// The same declaration alone, one line, for a prompt.
std::string RenderCppSignature(const Task& task);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_TASK_H_
