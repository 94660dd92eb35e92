#include <algorithm>
#include <cmath>
#include <vector>

extern "C" void run(const float* q, const float* k, const float* v, float* y, int64_t batch, int64_t heads,
                    int64_t length, int64_t width) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  std::vector<float> scores(static_cast<size_t>(length));
  for (int64_t b = 0; b < batch * heads; ++b) {
    const float* keys = k + b * length * width;
    const float* values = v + b * length * width;
    for (int64_t i = 0; i < length; ++i) {
      const float* query = q + (b * length + i) * width;
      float* to = y + (b * length + i) * width;
      const auto count = static_cast<size_t>(length);
      for (size_t j = 0; j < count; ++j) {
        float dot = 0;
        for (int64_t d = 0; d < width; ++d) dot += query[d] * keys[static_cast<int64_t>(j) * width + d];
        scores[j] = dot * scale;
      }
      const float top = *std::max_element(scores.data(), scores.data() + count);
      float sum = 0;
      for (size_t j = 0; j < count; ++j) sum += scores[j] = std::exp(scores[j] - top);
      std::fill(to, to + width, 0.0f);
      for (size_t j = 0; j < count; ++j) {
        for (int64_t d = 0; d < width; ++d) to[d] += scores[j] / sum * values[static_cast<int64_t>(j) * width + d];
      }
    }
  }
}
