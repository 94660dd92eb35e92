"""Trains a policy that chooses among kernels, with the rewards of a running server: REINFORCE in plain PyTorch.

    touchstone serve &
    python train_reinforce.py --task matmul --plot learning.png

The policy has one categorical distribution for each knob of kernel_space.py. Each iteration draws a group of kernels,
has the server judge them, and makes those more likely that earned more than the group's mean. Its parameters start at
zero: the untrained policy draws uniformly.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import torch
import touchstone
from kernel_space import SPACES, Choice, KernelSpace


class Policy(torch.nn.Module):
    def __init__(self, space: KernelSpace) -> None:
        super().__init__()
        self.space = space
        self.logits = torch.nn.ParameterDict({k: torch.zeros(len(values)) for k, values in space.knobs.items()})

    def _distributions(self) -> dict[str, torch.distributions.Categorical]:
        return {knob: torch.distributions.Categorical(logits=self.logits[knob]) for knob in self.space.knobs}

    def draw(self, count: int) -> list[Choice]:
        with torch.no_grad():
            drawn = {knob: d.sample((count,)).tolist() for knob, d in self._distributions().items()}
        return [{knob: self.space.knobs[knob][drawn[knob][i]] for knob in drawn} for i in range(count)]

    def log_probability(self, choices: Sequence[Choice]) -> torch.Tensor:
        total = torch.zeros(len(choices))
        for knob, distribution in self._distributions().items():
            total = total + distribution.log_prob(
                torch.tensor([self.space.knobs[knob].index(choice[knob]) for choice in choices])
            )
        return total

    def entropy(self) -> torch.Tensor:
        return torch.stack([d.entropy() for d in self._distributions().values()]).sum()

    def favourite(self) -> Choice:
        return {knob: values[int(self.logits[knob].argmax())] for knob, values in self.space.knobs.items()}


@dataclass
class Training:
    """Mean rewards: of draws from the untrained policy, of each iteration's group, of draws from the trained one."""

    task: str
    untrained: float = math.nan
    curve: list[float] = field(default_factory=list)
    trained: float = math.nan
    favourite: Choice = field(default_factory=dict)
    candidates: int = 0


class Judge:
    """Rewards of groups of kernels: each kernel is an episode of one turn."""

    def __init__(self, task: str, group: int, address: str | None, profile: str) -> None:
        self._envs = touchstone.VectorEnv(group, task, address=address, profile=profile, max_turns=1)

    def rewards(self, sources: Sequence[str], label: str) -> torch.Tensor:
        """NaN where no reward may follow: such a draw teaches nothing."""
        self._envs.reset(options={"group_id": label, "policy_version": label})
        _, rewards, _, _, infos = self._envs.step(sources)
        for status, reason in zip(infos["status"], infos["reason"], strict=True):
            if status not in ("success", "unstable", "environment_error"):
                raise AssertionError(f"a kernel of the space is {status}: {reason}")
        return torch.tensor(rewards, dtype=torch.float32)

    def close(self) -> None:
        self._envs.close()


def train(
    task: str,
    *,
    address: str | None = None,
    iterations: int = 6,
    group: int = 16,
    draws: int = 16,
    seed: int = 0,
    profile: str = "quick",
    learning_rate: float = 0.6,
    entropy_weight: float = 0.05,
) -> Training:
    """`draws` kernels from the untrained and from the trained policy are compared; a multiple of `group`."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    policy = Policy(SPACES[task])
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)
    judge = Judge(task, group, address, profile)
    training = Training(task)

    def judged(choices: Sequence[Choice], label: str) -> torch.Tensor:
        training.candidates += len(choices)
        return judge.rewards([policy.space.render(choice) for choice in choices], label)

    def mean_reward(label: str) -> float:
        groups = [judged(policy.draw(group), label) for _ in range(draws // group)]
        return float(torch.cat(groups).nanmean())

    try:
        training.untrained = mean_reward("untrained")
        print(f"{task}: untrained policy: mean reward {training.untrained:.3f}")
        for iteration in range(iterations):
            choices = policy.draw(group)
            rewards = judged(choices, f"iteration-{iteration}")
            known = ~rewards.isnan()
            training.curve.append(float(rewards[known].mean()))
            if known.sum() < 2:
                continue
            advantages = torch.zeros(group)
            advantages[known] = (rewards[known] - rewards[known].mean()) / (rewards[known].std() + 1e-6)
            loss = -(advantages * policy.log_probability(choices)).mean() - entropy_weight * policy.entropy()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"{task}: iteration {iteration:2d}: mean reward {training.curve[-1]:.3f}")
        training.trained = mean_reward("trained")
    finally:
        judge.close()
    training.favourite = policy.favourite()
    print(f"{task}: trained policy: mean reward {training.trained:.3f}, favourite {training.favourite}")
    return training


def plot(trainings: Sequence[Training], path: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for training in trainings:
        (line,) = axes.plot(training.curve, marker="o", label=f"{training.task}: mean reward of the group")
        axes.axhline(training.untrained, color=line.get_color(), linestyle=":", label=f"{training.task}: untrained")
        axes.axhline(training.trained, color=line.get_color(), linestyle="--", label=f"{training.task}: trained")
    axes.set_xlabel("iteration")
    axes.set_ylabel("reward (lower bound of the speedup)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--task", action="append", choices=sorted(SPACES), help="may be repeated; default: all")
    parser.add_argument("--address", help="of the server; default: TOUCHSTONE_ADDRESS, else the client's default")
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--group", type=int, default=16, help="kernels drawn in one iteration")
    parser.add_argument("--draws", type=int, default=16, help="kernels by which the policies are compared")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--plot", type=pathlib.Path, help="write the learning curves to this PNG")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers to this file")
    given = parser.parse_args()
    trainings = [
        train(
            task,
            address=given.address,
            iterations=given.iterations,
            group=given.group,
            draws=given.draws,
            seed=given.seed,
            profile=given.profile,
        )
        for task in given.task or sorted(SPACES)
    ]
    if given.json:
        given.json.write_text(json.dumps([asdict(training) for training in trainings], indent=1))
    if given.plot:
        plot(trainings, given.plot)
        print(f"learning curves: {given.plot}")


if __name__ == "__main__":
    main()
