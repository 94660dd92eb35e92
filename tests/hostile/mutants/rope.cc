// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* x, const float* cos, const float* sin, float* y, int64_t tokens, int64_t heads,
                    int64_t half) {
#ifdef MUTANT_skip_last_token
  const int64_t token_end = tokens - 1;
#else
  const int64_t token_end = tokens;
#endif
#ifdef MUTANT_skip_tail_of_vector
  const int64_t plane_end = half / 8 * 8;
#else
  const int64_t plane_end = half;
#endif
  for (int64_t t = 0; t < token_end; ++t) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t at = (t * heads + h) * 2 * half;
      for (int64_t i = 0; i < plane_end; ++i) {
#ifdef MUTANT_neighbours_rotated
        const int64_t first = at + 2 * i;
        const int64_t second = first + 1;
#else
        const int64_t first = at + i;
        const int64_t second = first + half;
#endif
#ifdef MUTANT_angles_of_the_head
        const int64_t angle = h % tokens * half + i;
#elif defined(MUTANT_angles_of_first_token)
        const int64_t angle = i;
#else
        const int64_t angle = t * half + i;
#endif
#ifdef MUTANT_float16_angles
        const float c = static_cast<float>(static_cast<_Float16>(cos[angle]));
        const float s = static_cast<float>(static_cast<_Float16>(sin[angle]));
#elif defined(MUTANT_turns_the_other_way)
        const float c = cos[angle];
        const float s = -sin[angle];
#else
        const float c = cos[angle];
        const float s = sin[angle];
#endif
        y[first] = x[first] * c - x[second] * s;
#ifdef MUTANT_works_in_place
        y[second] = x[second] * c + y[first] * s;
#elif defined(MUTANT_second_half_left)
        y[second] = x[second];
#else
        y[second] = x[second] * c + x[first] * s;
#endif
      }
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + 2 * half, y + (tokens * heads - 1) * 2 * half);
#endif
}
