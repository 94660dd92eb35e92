extern "C" void run(const int8_t* q, const int8_t* zero, const float* scale, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = static_cast<float>(q[r * cols + c] - zero[r]) * scale[r];
  }
}
