extern "C" void run(const float* x, const float* weight, const float* bias, float* y, int64_t batch,
                    int64_t channels_in, int64_t channels_out, int64_t length) {
  const int64_t out = (length - 1) / 2 + 1;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t o = 0; o < channels_out; ++o) {
      float* to = y + (b * channels_out + o) * out;
      for (int64_t i = 0; i < out; ++i) to[i] = bias[o];
      for (int64_t c = 0; c < channels_in; ++c) {
        const float* from = x + (b * channels_in + c) * length;
        for (int64_t i = 0; i < out; ++i) {
          for (int64_t p = 0; p < 5; ++p) {
            const int64_t at = 2 * i + p - 2;
            if (at >= 0 && at < length) to[i] += from[at] * weight[(o * channels_in + c) * 5 + p];
          }
        }
      }
    }
  }
}
