"""The kernels that train_reinforce.py chooses among: for each task a few knobs, and what they make of a template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Knobs = dict[str, tuple[str, ...]]
Choice = dict[str, str]


@dataclass(frozen=True)
class KernelSpace:
    """Every combination of the knobs' values is a right kernel; they differ in speed only."""

    knobs: Knobs
    render: Callable[[Choice], str]


_LOOPS = {
    "i": "for (int64_t i = 0; i < m; ++i)",
    "j": "for (int64_t j = 0; j < n; ++j)",
    "l": "for (int64_t l = 0; l < k; ++l)",
}

_MATMUL_LOOPS = """
#include <algorithm>

extern "C" void run(const float* __restrict a, const float* __restrict b, float* __restrict c,
                    int64_t m, int64_t n, int64_t k) {{
  std::fill(c, c + m * n, 0.0f);
  {outer}
    {middle}
#pragma GCC unroll {unroll}
      {inner}
        c[i * n + j] += a[i * k + l] * b[l * n + j];
}}
"""

_MATMUL_REGISTERS = """
#include <cstring>

namespace {{
constexpr int64_t kLanes = {width};
constexpr int64_t kRows = {rows};
using Vector = float __attribute__((vector_size(4 * kLanes)));

// Rows × kLanes results stay in registers while l passes by.
template <int64_t kCount>
void Block(const float* a, const float* b, float* c, int64_t n, int64_t k) {{
  Vector sum[kCount] = {{}};
  for (int64_t l = 0; l < k; ++l) {{
    Vector right;
    std::memcpy(&right, b + l * n, sizeof(right));
#pragma GCC unroll 8
    for (int64_t r = 0; r < kCount; ++r) sum[r] += a[r * k + l] * right;
  }}
#pragma GCC unroll 8
  for (int64_t r = 0; r < kCount; ++r) std::memcpy(c + r * n, &sum[r], sizeof(Vector));
}}
}}  // namespace

extern "C" void run(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {{
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {{
    int64_t i = 0;
    for (; i + kRows <= m; i += kRows) Block<kRows>(a + i * k, b + j, c + i * n + j, n, k);
    for (; i < m; ++i) Block<1>(a + i * k, b + j, c + i * n + j, n, k);
  }}
  for (; j < n; ++j) {{
    for (int64_t i = 0; i < m; ++i) {{
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }}
  }}
}}
"""

_TRANSPOSE = """
#include <algorithm>

extern "C" void run(const float* __restrict x, float* __restrict y, int64_t rows, int64_t cols) {{
  constexpr int64_t kTile = {tile};
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {{
    for (int64_t c0 = 0; c0 < cols; c0 += kTile) {{
      const int64_t r1 = std::min(rows, r0 + kTile);
      const int64_t c1 = std::min(cols, c0 + kTile);
      {outer}
#pragma GCC unroll {unroll}
        {inner}
          y[c * rows + r] = x[r * cols + c];
    }}
  }}
}}
"""

_TILE_LOOPS = {
    "r": "for (int64_t r = r0; r < r1; ++r)",
    "c": "for (int64_t c = c0; c < c1; ++c)",
}


def _matmul(choice: Choice) -> str:
    if choice["template"] == "registers":
        return _MATMUL_REGISTERS.format(rows=choice["rows"], width=choice["width"])
    outer, middle, inner = (_LOOPS[loop] for loop in choice["order"])
    return _MATMUL_LOOPS.format(outer=outer, middle=middle, inner=inner, unroll=choice["unroll"])


def _transpose(choice: Choice) -> str:
    outer, inner = (_TILE_LOOPS[loop] for loop in choice["order"])
    return _TRANSPOSE.format(tile=choice["tile"], outer=outer, inner=inner, unroll=choice["unroll"])


SPACES: dict[str, KernelSpace] = {
    "matmul": KernelSpace(
        {
            "template": ("loops", "registers"),
            "order": ("ijl", "ilj", "jil", "lij"),
            "unroll": ("1", "4"),
            "rows": ("1", "2", "4", "6"),
            "width": ("4", "8", "16"),
        },
        _matmul,
    ),
    "transpose": KernelSpace(
        {"order": ("rc", "cr"), "tile": ("1", "8", "32", "100000"), "unroll": ("1", "4")},
        _transpose,
    ),
}
