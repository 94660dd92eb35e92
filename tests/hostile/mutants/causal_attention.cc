// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>
#include <vector>

extern "C" void run(const float* q, const float* k, const float* v, float* y, int64_t batch, int64_t heads,
                    int64_t length, int64_t width) {
#ifdef MUTANT_no_scale
  const float scale = 1.0f;
#elif defined(MUTANT_scaled_by_width)
  const float scale = 1.0f / static_cast<float>(width);
#else
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
#endif
#ifdef MUTANT_float16_inputs
  const auto load = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
#else
  const auto load = [](float value) { return value; };
#endif
#ifdef MUTANT_skip_last_query
  const int64_t query_end = length - 1;
#else
  const int64_t query_end = length;
#endif
  std::vector<float> scores(static_cast<size_t>(length));
  for (int64_t b = 0; b < batch * heads; ++b) {
#ifdef MUTANT_values_of_first_head
    const float* values = v;
#else
    const float* values = v + b * length * width;
#endif
    for (int64_t i = 0; i < query_end; ++i) {
#ifdef MUTANT_last_block_of_keys_dropped
      const int64_t keys = std::max<int64_t>((i + 1) / 16 * 16, 1);
#elif defined(MUTANT_no_mask)
      const int64_t keys = length;
#elif defined(MUTANT_own_position_masked)
      const int64_t keys = std::max<int64_t>(i, 1);
#elif defined(MUTANT_mask_by_blocks)
      const int64_t keys = std::min((i / 16 + 1) * 16, length);
#else
      const int64_t keys = i + 1;
#endif
      for (int64_t j = 0; j < keys; ++j) {
        float dot = 0;
        for (int64_t d = 0; d < width; ++d) {
          dot += load(q[(b * length + i) * width + d]) * load(k[(b * length + j) * width + d]);
        }
        scores[static_cast<size_t>(j)] = dot * scale;
      }
#ifdef MUTANT_no_maximum
      const float top = 0;
#else
      const float top = *std::max_element(scores.begin(), scores.begin() + keys);
#endif
      float sum = 0;
      for (int64_t j = 0; j < keys; ++j) {
        float& weight = scores[static_cast<size_t>(j)];
        weight = std::exp(weight - top);
#ifdef MUTANT_float16_weights
        weight = static_cast<float>(static_cast<_Float16>(weight));
#endif
        sum += weight;
      }
#ifdef MUTANT_not_normalised
      sum = 1;
#endif
      for (int64_t d = 0; d < width; ++d) {
        float mixed = 0;
        for (int64_t j = 0; j < keys; ++j) mixed += scores[static_cast<size_t>(j)] * values[j * width + d];
        y[(b * length + i) * width + d] = mixed / sum;
      }
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + width, y + (length - 1) * width);
#endif
}
