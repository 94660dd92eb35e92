"""Checks Compare against NumPy and exact arithmetic on values chosen to break it.

usage: compare_check.py VERDICT_PROBE
"""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np

from probe import Probe

LARGEST = np.finfo(np.float64).max
STORAGE = {
    "float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": np.uint16,
    "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "uint8": np.uint8, "bool": np.uint8,
}
FLOATS = ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "bool"]


def decode_small(bits, exponent_bits, mantissa_bits, has_infinity):
    """Value of a small float from the definition of its fields."""
    bits = int(bits)
    sign = -1.0 if bits >> (exponent_bits + mantissa_bits) else 1.0
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    top = (1 << exponent_bits) - 1
    if has_infinity and exponent == top:
        return sign * math.inf if mantissa == 0 else math.nan
    if not has_infinity and exponent == top and mantissa == (1 << mantissa_bits) - 1:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


TABLES = {
    "float8_e4m3fn": np.array([decode_small(b, 4, 3, False) for b in range(256)]),
    "float8_e5m2": np.array([decode_small(b, 5, 2, True) for b in range(256)]),
    "bfloat16": np.array([decode_small(b, 8, 7, True) for b in range(65536)]),
}


def values(dtype, stored):
    """Floats as float64 (exact), integers as Python integers."""
    if dtype in TABLES:
        return TABLES[dtype][stored]
    if dtype in FLOATS:
        with np.errstate(all="ignore"):
            return stored.astype(np.float64)
    return [int(v) for v in stored]


def overflow_limit(dtype):
    """Half a unit above the largest finite value, and whether that tie itself overflows."""
    finite = {"float16": 65504.0, "float32": float(np.finfo(np.float32).max)}
    if dtype in TABLES:
        table = TABLES[dtype]
        largest = float(np.max(table[np.isfinite(table)]))
        below = float(np.max(table[np.isfinite(table) & (table < largest)]))
    elif dtype in finite:
        largest = finite[dtype]
        storage = STORAGE[dtype]
        below = float(np.nextafter(storage(largest), storage(0)))
    else:
        return math.inf, False
    return largest + (largest - below) / 2, dtype != "float8_e4m3fn"


def overflows(dtype, x, o):
    limit, tie = overflow_limit(dtype)
    if not (abs(o) > limit or (tie and abs(o) == limit)):
        return False
    if dtype == "float8_e4m3fn":
        return math.isnan(x)
    return math.isinf(x) and (x > 0) == (o > 0)


def expected_report(dtype, actual, expected_dtype, expected, rtol, atol, rms):
    xs, os = values(dtype, actual), values(expected_dtype, expected)
    mismatches = nonfinite = finite = 0
    first = None
    max_abs = max_rel = 0.0
    error_squares, expected_squares = Fraction(0), Fraction(0)
    for i, (x, o) in enumerate(zip(xs, os)):
        x = x if isinstance(x, int) else float(x)
        o = o if isinstance(o, int) else float(o)
        x_finite = isinstance(x, int) or math.isfinite(x)
        o_finite = isinstance(o, int) or math.isfinite(o)
        if not (x_finite and o_finite):
            same = (x != x and o != o) or x == o
            if not same and not (o_finite and dtype in FLOATS and overflows(dtype, x, o)):
                mismatches += 1
                nonfinite += 1
                first = i if first is None else first
            continue
        finite += 1
        exact = abs(Fraction(x) - Fraction(o))
        error_squares += exact * exact
        expected_squares += Fraction(o) ** 2
        try:
            error = float(exact)  # rounded once, as the subtraction of two doubles is
        except OverflowError:
            error = math.inf
        magnitude = float(abs(o))
        if not error <= atol + rtol * magnitude:
            mismatches += 1
            first = i if first is None else first
        max_abs = max(max_abs, error)
        if magnitude > 0:
            with np.errstate(all="ignore"):
                max_rel = max(max_rel, float(np.float64(error) / np.float64(magnitude)))

    def root_mean(squares):
        if finite == 0 or squares == 0:
            return 0.0
        mean = squares / finite
        shift = (mean.numerator.bit_length() - mean.denominator.bit_length()) // 2
        root = math.sqrt(float(mean / Fraction(4) ** shift))
        try:
            return min(math.ldexp(root, shift), LARGEST)
        except OverflowError:
            return LARGEST

    rms_error, rms_expected = root_mean(error_squares), root_mean(expected_squares)
    return {
        "count": len(actual), "mismatches": mismatches, "nonfinite_mismatches": nonfinite, "first_mismatch": first,
        "max_abs": min(max_abs, LARGEST), "max_rel": min(max_rel, LARGEST), "rms_error": rms_error,
        "rms_expected": rms_expected, "rms": rms,
    }


class Check:
    def __init__(self, program):
        self.probe = Probe(program)
        self.cases = self.elements = self.failures = 0

    def __call__(self, name, dtype, actual, expected_dtype, expected, rtol=0.0, atol=0.0, rms=0.0):
        actual = np.ascontiguousarray(actual, STORAGE[dtype])
        expected = np.ascontiguousarray(expected, STORAGE[expected_dtype])
        assert actual.shape == expected.shape, name
        question = {"ask": "compare", "dtype": dtype, "expected_dtype": expected_dtype, "count": len(actual),
                    "rtol": rtol, "atol": atol, "rms": rms}
        got = self.probe.ask(question, actual.tobytes(), expected.tobytes())
        want = expected_report(dtype, actual, expected_dtype, expected, rtol, atol, rms)
        wrong = [k for k in ("count", "mismatches", "nonfinite_mismatches", "max_abs", "max_rel") if got[k] != want[k]]
        if want["first_mismatch"] is not None and got["first_mismatch"] != want["first_mismatch"]:
            wrong.append("first_mismatch")
        wrong += [k for k in ("rms_error", "rms_expected") if not math.isclose(got[k], want[k], rel_tol=1e-12)]
        limit = rms * want["rms_expected"]
        if rms == 0 and got["rms_exceeded"]:
            wrong.append("rms_exceeded")
        if rms > 0 and not math.isclose(want["rms_error"], limit, rel_tol=1e-9, abs_tol=0) and want["rms_error"] != limit:
            if got["rms_exceeded"] != (want["rms_error"] > limit):
                wrong.append("rms_exceeded")
        if got["passed"] != (got["mismatches"] == 0 and not got["rms_exceeded"]):
            wrong.append("passed")
        self.cases += 1
        self.elements += len(actual)
        for key in wrong:
            self.failures += 1
            print(f"{name} ({dtype} against {expected_dtype}): {key}: {got[key]!r}, expected {want.get(key)!r}")


def specials(storage):
    """±0, subnormals, units in the last place around 1, extremes, infinities, NaNs with several payloads."""
    info = np.finfo(storage)
    tiny = np.nextafter(storage(0), storage(1))
    one = storage(1)
    positive = [storage(0), tiny, tiny * storage(3), info.tiny, np.nextafter(info.tiny, storage(0)), one,
                np.nextafter(one, storage(2)), np.nextafter(one, storage(0)), storage(1.5), info.max,
                np.nextafter(info.max, storage(0)), storage(np.inf)]
    both = np.array(positive + [-v for v in positive], storage)
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[storage(0).nbytes]
    top = np.array([np.inf], storage).view(bits)[0]
    sign = bits(1) << bits(8 * storage(0).nbytes - 1)
    payloads = np.array([top | bits(1), top | bits(5), top | bits(top >> bits(1)), top | bits(1) | sign], bits)
    nans = payloads.view(storage)
    assert np.isnan(nans).all()
    return np.concatenate([both, nans])


def small_specials(dtype):
    size = len(TABLES[dtype])
    picks = {0, 1, 2, 3, 7, 8}
    table = TABLES[dtype]
    finite = np.flatnonzero(np.isfinite(table))
    picks |= {int(b) for b in finite[np.argsort(-table[finite])][:4]}
    picks |= {int(b) for b in np.flatnonzero(~np.isfinite(table))[:6]}
    picks |= {int(np.flatnonzero(table == 1)[0]) + d for d in (-1, 0, 1)}
    picks |= {p | size // 2 for p in picks}
    return np.array(sorted(picks), STORAGE[dtype])


def pairs(array):
    product = list(itertools.product(range(len(array)), repeat=2))
    return array[[a for a, _ in product]], array[[b for _, b in product]]


def check_floats(check, rng):
    for dtype in FLOATS:
        chosen = small_specials(dtype) if dtype in TABLES else specials(STORAGE[dtype])
        x, o = pairs(chosen)
        for rtol, atol, rms in [(0, 0, 0), (1e-3, 1e-6, 0), (0.5, 0, 0.1), (0, 1e300, 0), (1e-300, 5e-324, 1)]:
            check("pairs of special values", dtype, x, dtype, o, rtol, atol, rms)
            with np.errstate(all="ignore"):
                oracle = np.array(values(dtype, o))
                check("specials against an oracle", dtype, x, "float64", oracle, rtol, atol, rms)
                check("oracle a little off", dtype, x, "float64", np.nextafter(oracle, 0), rtol, atol, rms)
        # Oracles around the place where rounding overflows.
        limit, _ = overflow_limit(dtype)
        if math.isfinite(limit):
            edge = [limit, np.nextafter(limit, 0), np.nextafter(limit, np.inf), limit * 2, 1e300]
            edge = np.array(edge + [-e for e in edge])
            wide = chosen.repeat(len(edge))
            check("overflow", dtype, wide, "float64", np.tile(edge, len(chosen)), 1e-3, 0)


def check_tables(check):
    for dtype in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        size = 1 << (8 * STORAGE[dtype]().nbytes)
        bits = np.arange(size).astype(np.uint16 if size > 256 else np.uint8)
        stored = bits.view(np.float16) if dtype == "float16" else bits
        with np.errstate(all="ignore"):
            oracle = np.array(values(dtype, stored), np.float64)
        check("every pattern", dtype, stored, "float64", oracle)
        check("every pattern, one step off", dtype, np.roll(stored, 1), "float64", oracle, 0.01, 1e-7)
        check("every pattern, same dtype", dtype, stored, dtype, np.roll(stored, size // 2), 1, 0)
    for dtype in ("float8_e4m3fn", "float8_e5m2"):
        x, o = pairs(np.arange(256, dtype=np.uint8))
        check("every pair", dtype, x, dtype, o, 0.125, 0.001, 0.5)


def check_tolerance_edges(check, rng):
    """Elements exactly at the limit of the tolerance, and one unit in the last place on both sides of it."""
    for dtype in ("float32", "float64"):
        storage = STORAGE[dtype]
        o = (rng.standard_normal(400) * 10.0 ** rng.integers(-8, 8, 400)).astype(storage)
        for rtol, atol in [(2.0**-10, 0.0), (1e-3, 1e-5), (0.0, 2.0**-7), (1.3e-6, 1e-5)]:
            edge = (o.astype(np.float64) + (atol + rtol * np.abs(o.astype(np.float64)))).astype(storage)
            x = np.concatenate([edge, np.nextafter(edge, storage(np.inf)), np.nextafter(edge, storage(-np.inf))])
            check("edge of the tolerance", dtype, x, dtype, np.tile(o, 3), rtol, atol)
            check("edge, oracle", dtype, x, "float64", np.tile(o, 3).astype(np.float64), rtol, atol)


def check_sizes(check, rng):
    """Around the sizes of blocks and lanes, empty arrays included."""
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 509, 511, 512, 513, 514, 515, 516, 1023, 1024, 1025, 2049]:
        for dtype in FLOATS + INTEGERS:
            storage = STORAGE[dtype]
            raw = rng.integers(0, 256, n * storage().nbytes, dtype=np.uint8)
            x = raw.view(storage)
            o = x.copy()
            if n > 0:
                o[rng.integers(0, n)] = x[rng.integers(0, n)]
                o[-1] = x[0]
            check("sizes", dtype, x, dtype, o, 0, 0, 0.25)
            if dtype in FLOATS:
                with np.errstate(all="ignore"):
                    check("sizes, oracle", dtype, x, "float64", np.array(values(dtype, o), np.float64), 1e-3)
            else:
                check("sizes, oracle", dtype, x, "float64", o.astype(np.float64), 0, 0)


def check_integers(check):
    for dtype in INTEGERS:
        info = np.iinfo(STORAGE[dtype])
        edge = {info.min, info.min + 1, -1, 0, 1, 2, 3, info.max - 1, info.max}
        edge |= {2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1}
        array = np.array(sorted(v for v in edge if info.min <= v <= info.max), STORAGE[dtype])
        x, o = pairs(array)
        for rtol, atol, rms in [(0, 0, 0), (0, 1, 0), (0.5, 0, 0), (0, 2.0**60, 0.5)]:
            check("integers", dtype, x, dtype, o, rtol, atol, rms)
            oracle = np.concatenate([o.astype(np.float64), [math.nan, math.inf, -math.inf, 0.5, 1e300, 2.0**63]])
            wide = np.concatenate([x, np.resize(array, 6)])
            check("integers against an oracle", dtype, wide, "float64", oracle, rtol, atol, rms)


def check_rms(check, rng):
    for scale in (1.0, 1e-200, 1e200, 5e-320):
        o = rng.standard_normal(700) * scale
        x = o * (1 + 1e-3 * rng.standard_normal(700))
        for rms in (0.5e-3, 0.9e-3, 1.1e-3, 2e-3):
            check("root mean square", "float64", x, "float64", o, 1, 0, rms)
    check("all expected are zero", "float32", [0, 1e-3], "float32", [0, 0], 0, 1, 1)
    check("nothing is finite", "float32", [math.nan, math.inf], "float32", [math.nan, math.inf], 0, 0, 1)


def main():
    rng = np.random.default_rng(20261201)
    check = Check(sys.argv[1])
    check_floats(check, rng)
    check_tables(check)
    check_tolerance_edges(check, rng)
    check_sizes(check, rng)
    check_integers(check)
    check_rms(check, rng)
    check.probe.close()
    print(f"{check.cases} cases, {check.elements} elements, {check.failures} differences")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
