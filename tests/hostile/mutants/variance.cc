// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <utility>

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_float16_inputs
  const auto load = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
#else
  const auto load = [](float value) { return value; };
#endif
#ifdef MUTANT_skip_tail_of_vector
  const int64_t col_end = cols / 8 * 8 - (cols % 8 == 0 ? 8 : 0);
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += load(from[c]);
#ifdef MUTANT_first_element_as_mean
    const float mean = from[0];
#elif defined(MUTANT_float16_mean)
    const float mean = static_cast<float>(static_cast<_Float16>(sum / static_cast<float>(cols)));
#else
    const float mean = sum / static_cast<float>(cols);
#endif
    float squares = 0;
#ifdef MUTANT_mean_of_squares_minus_squared_mean
    for (int64_t c = 0; c < cols; ++c) squares += from[c] * from[c];
    squares -= static_cast<float>(cols) * mean * mean;
#else
    for (int64_t c = 0; c < col_end; ++c) squares += (load(from[c]) - mean) * (load(from[c]) - mean);
#endif
#ifdef MUTANT_divided_by_cols
    y[r] = squares / static_cast<float>(cols);
#else
    y[r] = squares / static_cast<float>(cols - 1);
#endif
  }
#ifdef MUTANT_one_row_swapped
  std::swap(y[0], y[rows - 1]);
#endif
#ifdef MUTANT_one_element_off
  y[rows / 2] *= 1.001f;
#endif
}
