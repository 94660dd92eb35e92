"""The reward can be learned from: a policy trained by python/examples/train_reinforce.py earns more than an untrained
one. Both choose among the same right kernels; seeds are fixed, what remains random is the measured time."""

from __future__ import annotations

import json
import pathlib
import tempfile
import unittest

from real_server import RealServer

MARGIN = 1.5  # the trained policy's mean reward / the untrained one's; about 3.5 is usual
ITERATIONS = 6
GROUP = 16
DRAWS = 16


class Learning(unittest.TestCase):
    def test_the_trained_policy_earns_more_by_the_margin(self) -> None:
        server = RealServer()
        self.addCleanup(server.stop)
        with tempfile.TemporaryDirectory() as name:
            plot, numbers = pathlib.Path(name, "learning.png"), pathlib.Path(name, "learning.json")
            printed = server.run_example(
                "train_reinforce.py",
                *("--task", "matmul", "--plot", plot, "--json", numbers),
                *("--iterations", str(ITERATIONS), "--group", str(GROUP), "--draws", str(DRAWS)),
            )
            print(printed)
            (training,) = json.loads(numbers.read_text())
            self.assertEqual(plot.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(plot.stat().st_size, 5000)
        self.assertEqual(len(training["curve"]), ITERATIONS)
        self.assertEqual(training["candidates"], ITERATIONS * GROUP + 2 * DRAWS)
        self.assertGreater(training["trained"], MARGIN * training["untrained"])


if __name__ == "__main__":
    unittest.main()
