// The best so far stay sorted in the output; most elements are below the last of them and cost one comparison.
extern "C" void run(const float* x, float* value, int64_t* index, int64_t rows, int64_t cols, int64_t picks) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    float* best = value + r * picks;
    int64_t* at = index + r * picks;
    int64_t found = 0;
    for (int64_t c = 0; c < cols; ++c) {
      if (found == picks && !(from[c] > best[picks - 1])) continue;
      int64_t place = found < picks ? found++ : picks - 1;
      for (; place > 0 && from[c] > best[place - 1]; --place) {
        best[place] = best[place - 1];
        at[place] = at[place - 1];
      }
      best[place] = from[c];
      at[place] = c;
    }
  }
}
