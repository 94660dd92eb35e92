"""First steps: an episode with an honest and with a cheating candidate, and both read back from the store.

touchstone serve &
python first_steps.py
"""

from __future__ import annotations

import argparse

import touchstone

HONEST = """
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
"""

# Computes once and gives the old answer from then on. Every timed call has fresh inputs, and its output is checked.
CHEATING = """
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static bool done = false;
  if (done) return;
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  done = true;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--address", help="of the server; default: TOUCHSTONE_ADDRESS, else the client's default")
    with touchstone.Client(parser.parse_args().address) as client:
        # An episode: what a policy would see, and two turns.
        episode = client.reset("add", max_turns=2, seed=1)
        print(episode.observation.prompt.splitlines()[0])
        for name, source in (("honest", HONEST), ("cheating", CHEATING)):
            step = client.step(episode.session, source)
            speedup = step.info.result.speedup
            print(
                f"{name}: {step.status}, reward {step.reward}, speedup {speedup.speedup:.3g} "
                f"[{speedup.lower:.3g}, {speedup.upper:.3g}], rollout {step.info.rollout}"
            )
            if step.reason:
                print(f"  {step.reason}")

        # Both are stored. Only the honest one can be drawn again; `touchstone replay` shows both.
        drawn = client.sample("add", selector="uniform", count=8)
        print(f"drawn from the store: {[item.rollout for item in drawn.items]}")


if __name__ == "__main__":
    main()
