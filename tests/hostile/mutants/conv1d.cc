// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                    int64_t channels_in, int64_t channels_out, int64_t length) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_float16_inputs
  const auto load = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
#else
  const auto load = [](float value) { return static_cast<Sum>(value); };
#endif
#ifdef MUTANT_skip_last_channel
  const int64_t channel_end = channels_in - 1;
#else
  const int64_t channel_end = channels_in;
#endif
  const int64_t out = (length - 1) / 2 + 1;
#ifdef MUTANT_off_by_one_bound
  const int64_t out_end = length / 2;
#else
  const int64_t out_end = out;
#endif
#ifdef MUTANT_shifted_by_one
  const int64_t padding = 1;
#else
  const int64_t padding = 2;
#endif
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t o = 0; o < channels_out; ++o) {
      float* to = y + (b * channels_out + o) * out;
      for (int64_t i = 0; i < out_end; ++i) {
        Sum sum = 0;
        for (int64_t c = 0; c < channel_end; ++c) {
          for (int64_t p = 0; p < 5; ++p) {
            int64_t at = 2 * i + p - padding;
#ifdef MUTANT_repeats_the_border
            at = std::clamp<int64_t>(at, 0, length - 1);
#else
            if (at < 0 || at >= length) continue;
#endif
#ifdef MUTANT_flipped_kernel
            const int64_t tap = 4 - p;
#else
            const int64_t tap = p;
#endif
            sum += load(x[(b * channels_in + c) * length + at]) * load(weight[(o * channels_in + c) * 5 + tap]);
          }
        }
#ifdef MUTANT_bias_dropped
        to[i] = static_cast<float>(sum);
#else
        to[i] = static_cast<float>(sum) + bias[o];
#endif
      }
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + out, y + (batch * channels_out - 1) * out);
#endif
}
