// The parts of a task's YAML that describe one tensor.
#ifndef TOUCHSTONE_REWARD_TASK_TENSOR_YAML_H_
#define TOUCHSTONE_REWARD_TASK_TENSOR_YAML_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "reward/task/task.h"
#include "reward/task/yaml_cursor.h"

namespace touchstone {

// Larger numbers in a file are mistakes.
inline constexpr double kHuge = 1e300;

// A name that can be a parameter in C++ and in TorchScript.
Result<std::string> ReadName(const YamlCursor& cursor);
Result<DType> ReadDType(const YamlCursor& cursor);
// Texts of expressions, not yet evaluated; at most kMaxRank.
Result<std::vector<std::string>> ReadShape(const YamlCursor& cursor);
// A distribution that elements of `dtype` can have.
Result<Distribution> ReadDistribution(const YamlCursor& cursor, DType dtype);

// Reads a number in [low, high] into `out`.
YamlField NumberField(std::string_view key, bool required, double low, double high, double* out);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_TENSOR_YAML_H_
