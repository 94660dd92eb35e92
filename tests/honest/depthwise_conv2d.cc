extern "C" void run(const float* x, const float* weight, const float* bias, float* y, int64_t batch, int64_t channels,
                    int64_t height, int64_t width) {
  const int64_t plane = height * width;
  for (int64_t b = 0; b < batch * channels; ++b) {
    const int64_t channel = b % channels;
    const float* from = x + b * plane;
    float* to = y + b * plane;
    for (int64_t i = 0; i < plane; ++i) to[i] = bias[channel];
    for (int64_t p = 0; p < 3; ++p) {
      for (int64_t q = 0; q < 3; ++q) {
        const float w = weight[channel * 9 + p * 3 + q];
        // Output rows and columns whose input lies inside.
        const int64_t first_row = p == 0 ? 1 : 0;
        const int64_t last_row = p == 2 ? height - 1 : height;
        const int64_t first_col = q == 0 ? 1 : 0;
        const int64_t last_col = q == 2 ? width - 1 : width;
        for (int64_t i = first_row; i < last_row; ++i) {
          for (int64_t j = first_col; j < last_col; ++j) {
            to[i * width + j] += w * from[(i + p - 1) * width + j + q - 1];
          }
        }
      }
    }
  }
}
