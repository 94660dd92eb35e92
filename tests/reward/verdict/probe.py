"""Speaks with verdict_probe, the C++ side of the checks."""

import json
import subprocess


class Probe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, question, *arrays):
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        for array in arrays:
            self.process.stdin.write(array)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"verdict_probe ended with {self.process.wait()} on {question}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise RuntimeError(f"verdict_probe ended with {self.process.returncode}")
