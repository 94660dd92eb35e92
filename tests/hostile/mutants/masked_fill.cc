// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
extern "C" void run(const float* x, const bool* mask, float* y, int64_t batch, int64_t rows, int64_t cols) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t col_end = cols - 1;
#else
  const int64_t col_end = cols;
#endif
#ifdef MUTANT_other_value
  const float value = -9999.0f;
#else
  const float value = -10000.0f;
#endif
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t r = 0; r < row_end; ++r) {
      for (int64_t c = 0; c < col_end; ++c) {
        const int64_t at = (b * rows + r) * cols + c;
#ifdef MUTANT_mask_of_next_row
        const bool masked = mask[(r + 1) % rows * cols + c];
#elif defined(MUTANT_first_batch_only)
        const bool masked = b == 0 && mask[r * cols + c];
#else
        const bool masked = mask[r * cols + c];
#endif
#ifdef MUTANT_float16_copy
        y[at] = masked ? value : static_cast<float>(static_cast<_Float16>(x[at]));
#else
        y[at] = masked ? value : x[at];
#endif
      }
    }
  }
}
