// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* x, const float* weight, const float* bias, float* y, int64_t batch, int64_t channels,
                    int64_t height, int64_t width) {
#ifdef MUTANT_float16_inputs
  const auto load = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
#else
  const auto load = [](float value) { return value; };
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t row_end = height - 1;
#else
  const int64_t row_end = height;
#endif
#ifdef MUTANT_skip_tail_of_vector
  const int64_t col_end = width / 8 * 8;
#else
  const int64_t col_end = width;
#endif
  for (int64_t b = 0; b < batch * channels; ++b) {
#ifdef MUTANT_weights_of_first_channel
    const float* taps = weight;
#else
    const float* taps = weight + b % channels * 9;
#endif
    for (int64_t i = 0; i < row_end; ++i) {
      for (int64_t j = 0; j < col_end; ++j) {
        float sum = bias[b % channels];
#ifdef MUTANT_bias_dropped
        sum = 0;
#endif
        for (int64_t p = 0; p < 3; ++p) {
          for (int64_t q = 0; q < 3; ++q) {
            int64_t row = i + p - 1;
            int64_t col = j + q - 1;
#ifdef MUTANT_repeats_the_border
            row = std::clamp<int64_t>(row, 0, height - 1);
            col = std::clamp<int64_t>(col, 0, width - 1);
#elif defined(MUTANT_wraps_at_the_side)
            if (row < 0 || row >= height) continue;
            col = (col + width) % width;
#else
            if (row < 0 || row >= height || col < 0 || col >= width) continue;
#endif
#ifdef MUTANT_flipped_kernel
            const int64_t tap = (2 - p) * 3 + (2 - q);
#else
            const int64_t tap = p * 3 + q;
#endif
            sum += load(x[(b * height + row) * width + col]) * load(taps[tap]);
          }
        }
#ifdef MUTANT_float16_result
        sum = static_cast<float>(static_cast<_Float16>(sum));
#endif
        y[(b * height + i) * width + j] = sum;
      }
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + width, y + width);
#endif
}
