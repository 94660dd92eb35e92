// One pass over the keys in blocks: what is there already is scaled down whenever a block raises the maximum. Powers of
// two instead of e; scores are scaled for them before the maximum is taken off.
#include <algorithm>
#include <cmath>

extern "C" void run(const float* q, const float* k, const float* v, float* y, int64_t batch, int64_t heads,
                    int64_t length, int64_t width) {
  constexpr int64_t kBlock = 16;
  const float scale = 1.44269504f / std::sqrt(static_cast<float>(width));
  for (int64_t b = 0; b < batch * heads; ++b) {
    for (int64_t i = 0; i < length; ++i) {
      const float* query = q + (b * length + i) * width;
      float* to = y + (b * length + i) * width;
      std::fill(to, to + width, 0.0f);
      float top = -INFINITY;
      float sum = 0;
      const int64_t keys = length;
      for (int64_t first = 0; first < keys; first += kBlock) {
        const int64_t count = std::min(kBlock, keys - first);
        float scores[kBlock];
        float highest = top;
        for (int64_t j = 0; j < count; ++j) {
          const float* key = k + (b * length + first + j) * width;
          float dot = 0;
          for (int64_t d = 0; d < width; ++d) dot += query[d] * key[d];
          scores[j] = dot * scale;
          highest = std::max(highest, scores[j]);
        }
        const float shrink = std::exp2(top - highest);
        top = highest;
        sum *= shrink;
        for (int64_t d = 0; d < width; ++d) to[d] *= shrink;
        for (int64_t j = 0; j < count; ++j) {
          const float* value = v + (b * length + first + j) * width;
          const float weight = std::exp2(scores[j] - top);
          sum += weight;
          for (int64_t d = 0; d < width; ++d) to[d] += weight * value[d];
        }
      }
      for (int64_t d = 0; d < width; ++d) to[d] /= sum;
    }
  }
}
