// One multiplication and one addition for each element, after the zero point is scaled once for each row.
extern "C" void run(const int8_t* q, const int8_t* zero, const float* scale, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float factor = scale[r];
    const float offset = -static_cast<float>(zero[r]) * factor;
    const int8_t* from = q + r * cols;
    float* __restrict to = y + r * cols;
    for (int64_t c = 0; c < cols; ++c) to[c] = static_cast<float>(from[c]) * factor + offset;
  }
}
