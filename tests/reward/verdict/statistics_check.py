"""Checks EstimateSpeedup against the formulas of docs/measuring.md, computed here with NumPy.

usage: statistics_check.py VERDICT_PROBE
"""

import math
import sys

import numpy as np

from probe import Probe

NODES, WEIGHTS = np.polynomial.legendre.leggauss(300)


def student_quantile(confidence, degrees):
    """Two-sided quantile by integrating the density and bisecting."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)

    def inside(q):
        t = (NODES + 1) * q / 2
        return 2 * scale * float(np.sum(WEIGHTS * (1 + t * t / degrees) ** (-(degrees + 1) / 2))) * q / 2

    low, high = 0.0, 200.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < confidence else (low, middle)
    return low


def split_mix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        yield z ^ (z >> 31)


def bootstrap_sd(series, block, resamples, seed):
    random = split_mix(seed)
    medians = []
    for _ in range(resamples):
        drawn = []
        for start in series:
            indices = []
            while len(indices) < len(start):
                first = ((next(random) >> 32) * len(start)) >> 32
                indices += [(first + i) % len(start) for i in range(min(block, len(start) - len(indices)))]
            drawn.append(start[indices])
        medians.append(np.median(np.concatenate(drawn)))
    return float(np.std(medians, ddof=1))


def variance_of_mean(n, rho):
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return float(np.mean(np.power(rho, lags)))


def noise(series):
    """sd of a round, autocorrelation, trend over a start, its significance."""
    centred = [s - np.median(s) for s in series]
    limit = 3 * 1.4826 * np.median(np.abs(np.concatenate(centred)))
    if limit > 0:
        centred = [np.clip(s, -limit, limit) for s in centred]
    centred = [s - np.mean(s) for s in centred]
    count, starts = sum(len(s) for s in series), len(series)
    squares = sum(float(s @ s) for s in centred)
    sd = math.sqrt(squares / (count - starts)) if count > starts else 0.0
    n = count / starts
    if n < 6 or squares <= 0:
        return sd, 0.0, 0.0, 0.0

    def lag_one(values):
        total = sum(float(s @ s) for s in values)
        return sum(float(s[:-1] @ s[1:]) for s in values) / total if total > 0 else 0.0

    rho = min(max((lag_one(centred) + 1 / n) / (1 - 4 / n), 0.0), 0.95)
    times = [np.arange(len(s)) - (len(s) - 1) / 2 for s in series]
    times_squared = sum(float(t @ t) for t in times)
    slope = sum(float(t @ s) for t, s in zip(times, centred)) / times_squared
    left = [s - slope * t for t, s in zip(times, centred)]
    rest = min(max(lag_one(left), 0.0), 0.95)
    error = math.sqrt(sum(float(s @ s) for s in left) / (count - starts - 1) / times_squared * (1 + rest) / (1 - rest))
    return sd, rho, slope * (max(len(s) for s in series) - 1), abs(slope) / error


def from_rounds(series, rho, resamples, seed):
    count, starts = sum(len(s) for s in series), len(series)
    rounds = count / starts
    n = int(math.floor(rounds + 0.5))
    best = (2 * rho / (1 - rho * rho)) ** (2 / 3) * rounds ** (1 / 3)
    block = int(min(max(math.floor(best + 0.5), 1), max(1, math.floor(rounds / 3))))
    sd = bootstrap_sd(series, block, resamples, seed)
    if n < 2:
        return sd, 1.0, 1.0
    mean = variance_of_mean(n, rho)
    correction = math.sqrt(mean / (block / n * (variance_of_mean(block, rho) - mean)))
    return sd, correction, max(starts + 2, starts * (1 / mean - 1))


def estimate(question):
    series = [np.array([math.log(b) - math.log(c) for b, c in start]) for start in question["starts"]]
    confidence, known = question["confidence"], question["between_start_sd"]
    starts = len(series)
    sd, rho, _, significance = noise(series)
    own, correction, degrees = from_rounds(series, rho, question["resamples"], question["seed"])
    medians = [float(np.median(s)) for s in series]
    observed = float(np.var(medians, ddof=1)) if starts > 1 else 0.0

    def penalty(variance):
        if variance <= 0:
            return 1.0
        return 1 + variance / (variance + sd * sd) * (starts * (math.pi / 2) / (starts + math.pi / 2 - 1) - 1)

    def by_starts():
        rounds = own * correction
        half = rounds * student_quantile(confidence, degrees)
        excess = max(0.0, observed - starts * rounds**2)
        error = math.sqrt(penalty(excess) * observed / starts)
        if starts >= 3:
            half = max(error * student_quantile(confidence, starts - 1), half / 2)
        return half, max(error, rounds), math.sqrt(excess)

    contradicted = False
    if known >= 0 and not (starts >= 3 and correction > 1.3):
        rounds = own * math.sqrt(correction)
        between = known * math.sqrt(penalty(known**2) / starts)
        half = math.hypot(rounds * student_quantile(confidence, degrees), between * student_quantile(confidence, 1e6))
        error, used = math.hypot(rounds, between), known
        if starts >= 2:
            contradicted = observed > (known**2 + starts * rounds**2) * (1 + 6 * math.sqrt(2 / (starts - 1)))
        if contradicted:
            by = by_starts()
            half, error, used = max(half, by[0]), by[1], by[2]
    else:
        half, error, used = by_starts()

    stated = min(len(s) for s in series) >= 6 and sd > 0 and significance <= 3
    stated = stated and (starts >= 3 or (known >= 0 and not contradicted))
    speedup = math.exp(float(np.median(np.concatenate(series))))
    return {
        "speedup": speedup, "lower": speedup * math.exp(-half), "upper": speedup * math.exp(half),
        "half_width": math.sinh(half), "standard_error": error, "within_start_sd": sd, "between_start_sd": used,
        "autocorrelation": rho, "interval_stated": stated,
    }


def between_start_sd(question):
    series = [np.array([math.log(b) - math.log(c) for b, c in start]) for start in question["starts"]]
    own = np.mean([math.prod(from_rounds([s], 0.0, 200, 0)[:2]) ** 2 for s in series])
    return math.sqrt(max(0.0, float(np.var([np.median(s) for s in series], ddof=1)) - 0.75 * own))


def rounds_of(rng, kind, starts, rounds):
    result = []
    for _ in range(starts):
        z = rng.standard_normal(rounds)
        if kind == "ar":
            for i in range(1, rounds):
                z[i] = 0.8 * z[i - 1] + 0.6 * z[i]
        if kind == "heavy":
            z = rng.standard_t(2, rounds)
        if kind == "drift":
            z += np.linspace(-3, 3, rounds)
        if kind == "offset":
            z += 3 * rng.standard_normal()
        if kind == "ties":
            z = np.round(z)
        base = 10.0 ** rng.uniform(-1, 6)
        candidate = base / rng.uniform(0.1, 20) if kind == "offset" else base / 1.7
        both = np.exp(0.1 * rng.standard_normal(rounds))
        result.append([[b, c] for b, c in zip((base * both * np.exp(0.01 * z)).tolist(), (candidate * both).tolist())])
    return result


def main():
    rng = np.random.default_rng(20261201)
    probe = Probe(sys.argv[1])
    cases = failures = stated = 0

    def compare(name, got, want, tolerance):
        nonlocal failures
        same = got == want if isinstance(want, bool) else math.isclose(got, want, rel_tol=tolerance, abs_tol=1e-12)
        if not same:
            failures += 1
            print(f"{name}: {got!r}, expected {want!r}")

    for kind in ("independent", "ar", "heavy", "drift", "offset", "ties"):
        for starts in (1, 2, 3, 5):
            for rounds in (1, 2, 5, 6, 7, 8, 13, 24):
                for known in (-1.0, 0.0, 0.005):
                    question = {"ask": "speedup", "starts": rounds_of(rng, kind, starts, rounds),
                                "confidence": float(rng.choice([0.8, 0.95, 0.99])), "between_start_sd": known,
                                "resamples": 60, "seed": int(rng.integers(0, 2**63))}
                    if starts > 1 and rounds > 8:
                        question["starts"][1] = question["starts"][1][:-3]  # starts need not be equally long
                    got, want = probe.ask(question), estimate(question)
                    cases += 1
                    stated += want["interval_stated"]
                    for key, value in want.items():
                        compare(f"{kind}, {starts} x {rounds}, {known}: {key}", got[key], value, 1e-6)
                    compare(f"{kind}, {starts} x {rounds}: a reason", got["reason"] == "", want["interval_stated"], 0)
    for kind in ("independent", "offset"):
        question = {"ask": "between_start_sd", "starts": rounds_of(rng, kind, 12, 16)}
        compare(f"{kind}: between_start_sd", probe.ask(question), between_start_sd(question), 1e-9)
        cases += 1
    probe.close()
    print(f"{cases} cases, {stated} with an interval, {failures} differences")
    return 1 if failures or stated < cases // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
