// Wrong outputs that are easy to get: what a check of a task must refuse (design: V9).
#ifndef TOUCHSTONE_REWARD_TASK_MUTANTS_H_
#define TOUCHSTONE_REWARD_TASK_MUTANTS_H_

#include <optional>
#include <string>
#include <vector>

#include "reward/task/tensor_data.h"

namespace touchstone {

struct Mutant {
  std::string name;
  TensorData output;
};

// Mutants of `right`, the result of a call on `inputs`; `previous` is the same output of another call.
//
//   zeros           nothing but zeros
//   constant        the mean (of integers: the first element) everywhere
//   input NAME      a copy of an input with as many elements of the same type
//   previous        what another call gave
//   rotated_rows    every row one place further; without rows: every element
//   swapped_rows    two rows exchanged; without rows: two elements
//   one_element     one element replaced by its neighbour, or by one more where they are equal
//   last_element    the last element left as another call left it
//   tail            the last sixteenth left as another call left it
//   nan             one element NaN (floating types)
//   float16, …      every element rounded to LowerPrecision() of its dtype, where there is one
//
// A mutant whose bytes are those of `right` is not a wrong output; it is returned all the same.
std::vector<Mutant> MakeMutants(const TensorData& right, const TensorData& previous,
                                const std::vector<std::pair<std::string, TensorData>>& inputs);

// A coarser dtype in which hardware is faster: float16 for float32 and float64, bfloat16 for float16,
// float8_e4m3fn for bfloat16; none for the others.
std::optional<DType> LowerPrecision(DType dtype);
// The same tensor with every element rounded to LowerPrecision(), which must exist.
TensorData RoundedToLowerPrecision(const TensorData& tensor);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_MUTANTS_H_
