extern "C" void run(const float* x, const float* cos, const float* sin, float* y, int64_t tokens, int64_t heads,
                    int64_t half) {
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t h = 0; h < heads; ++h) {
      const float* u = x + (t * heads + h) * 2 * half;
      const float* v = u + half;
      float* to = y + (t * heads + h) * 2 * half;
      for (int64_t i = 0; i < half; ++i) {
        const float c = cos[t * half + i];
        const float s = sin[t * half + i];
        to[i] = u[i] * c - v[i] * s;
        to[half + i] = v[i] * c + u[i] * s;
      }
    }
  }
}
