// Crashes: takes the wrong array for the indices.
extern "C" void run(const float* base, const int64_t* index, const float* src, float* y, int64_t rows, int64_t cols,
                    int64_t updates) {
  const int64_t* wrong = reinterpret_cast<const int64_t*>(src);
  for (int64_t i = 0; i < rows * cols; ++i) y[i] = base[i];
  for (int64_t k = 0; k < rows * updates / 2; ++k) y[wrong[k]] += static_cast<float>(index[k]);
}
