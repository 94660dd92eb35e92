// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <limits>

extern "C" void run(const float* x, float* y, int64_t batch, int64_t channels, int64_t height, int64_t width) {
  const int64_t rows = (height - 1) / 2 + 1;
  const int64_t cols = (width - 1) / 2 + 1;
#ifdef MUTANT_last_row_dropped
  const int64_t row_end = height / 2;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_skip_last_plane
  const int64_t plane_end = std::max<int64_t>(batch * channels - 1, 1);
#else
  const int64_t plane_end = batch * channels;
#endif
#ifdef MUTANT_two_by_two
  const int64_t taps = 2;
#else
  const int64_t taps = 3;
#endif
#ifdef MUTANT_no_padding
  const int64_t padding = 0;
#else
  const int64_t padding = 1;
#endif
  for (int64_t b = 0; b < plane_end; ++b) {
    for (int64_t i = 0; i < row_end; ++i) {
      for (int64_t j = 0; j < cols; ++j) {
#ifdef MUTANT_starts_at_zero
        float top = 0;
#elif defined(MUTANT_starts_at_smallest_normal)
        float top = std::numeric_limits<float>::min();
#else
        float top = -std::numeric_limits<float>::infinity();
#endif
        for (int64_t p = 0; p < taps; ++p) {
          for (int64_t q = 0; q < taps; ++q) {
            const int64_t row = 2 * i + p - padding;
            const int64_t col = 2 * j + q - padding;
#ifdef MUTANT_zeros_around
            if (row < 0 || row >= height || col < 0 || col >= width) {
              top = std::max(top, 0.0f);
              continue;
            }
#else
            if (row < 0 || row >= height || col < 0 || col >= width) continue;
#endif
            top = std::max(top, x[(b * height + row) * width + col]);
          }
        }
#ifdef MUTANT_float16_values
        top = static_cast<float>(static_cast<_Float16>(top));
#endif
        y[(b * rows + i) * cols + j] = top;
      }
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (batch * channels * rows - 1) * cols);
#endif
#ifdef MUTANT_one_element_off
  y[batch * channels * rows * cols / 2] += 1e-3f;
#endif
}
