// A softmax over all experts first, whose sum is taken out again; the picked logits stay sorted as they are found.
#include <cmath>

extern "C" void run(const float* logits, float* weight, int64_t* index, int64_t tokens, int64_t experts,
                    int64_t picks) {
  for (int64_t t = 0; t < tokens; ++t) {
    const float* from = logits + t * experts;
    int64_t* at = index + t * picks;
    float* to = weight + t * picks;
    int64_t found = 0;
    for (int64_t e = 0; e < experts; ++e) {
      if (found == picks && !(from[e] > from[at[picks - 1]])) continue;
      int64_t place = found < picks ? found++ : picks - 1;
      for (; place > 0 && from[e] > from[at[place - 1]]; --place) at[place] = at[place - 1];
      at[place] = e;
    }
    const float top = from[at[0]];
    float all = 0;
    for (int64_t e = 0; e < experts; ++e) all += std::exp(from[e] - top);
    float picked = 0;
    for (int64_t j = 0; j < picks; ++j) picked += to[j] = std::exp(from[at[j]] - top) / all;
    for (int64_t j = 0; j < picks; ++j) to[j] /= picked;
  }
}
