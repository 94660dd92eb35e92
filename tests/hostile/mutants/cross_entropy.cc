// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* logits, const int64_t* target, float* loss, int64_t rows, int64_t classes) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t class_end = classes - 1;
#else
  const int64_t class_end = classes;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = logits + r * classes;
#ifdef MUTANT_no_maximum
    const float top = 0;
#else
    const float top = *std::max_element(from, from + classes);
#endif
    Sum sum = 0;
    for (int64_t k = 0; k < class_end; ++k) sum += static_cast<Sum>(std::exp(from[k] - top));
#ifdef MUTANT_target_of_next_row
    const int64_t right = target[(r + 1) % rows];
#elif defined(MUTANT_target_off_by_one)
    const int64_t right = (target[r] + 1) % classes;
#else
    const int64_t right = target[r];
#endif
    loss[r] = std::log(static_cast<float>(sum)) + top - from[right];
  }
#ifdef MUTANT_one_row_swapped
  std::swap(loss[0], loss[rows - 1]);
#endif
#ifdef MUTANT_mean_everywhere
  float mean = 0;
  for (int64_t r = 0; r < rows; ++r) mean += loss[r] / static_cast<float>(rows);
  std::fill(loss, loss + rows, mean);
#endif
}
