"""The clients, the Gymnasium environments and the adapters against the real server."""

from __future__ import annotations

import asyncio
import math
import pathlib
import tempfile
import types
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import touchstone
import touchstone.gym
from gymnasium.utils.env_checker import check_env
from real_server import RealServer, new_keys
from touchstone.adapters import slime, trl, verl
from touchstone.adapters._shared import shared_client

HONEST = """
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
"""
WRONG = HONEST.replace("x[i] + y[i]", "x[i] - y[i]")
CRASHING = HONEST.replace("for (", "__builtin_trap(); for (")
NOT_CODE = "extern int run("
ANSWER = f"Here it is:\n```cpp\n{HONEST}```\n"

server: RealServer


def setUpModule() -> None:
    global server
    server = RealServer()


def tearDownModule() -> None:
    server.stop()


def client(**options: object) -> touchstone.Client:
    return touchstone.Client(server.address, **options)  # type: ignore[arg-type]


class Calls(unittest.TestCase):
    def test_describe_names_what_can_be_asked_for(self) -> None:
        with client() as c:
            told = c.describe()
            self.assertIn("add", told["tasks"])
            self.assertIn("default", told["methods"])
            self.assertIn("cuda_l1", told["selectors"])
            self.assertTrue(any(reward["name"] == "speedup_lcb" for reward in told["rewards"]))

    def test_an_episode_of_an_honest_a_wrong_and_a_crashing_candidate(self) -> None:
        with client() as c:
            episode = c.reset("add", max_turns=3, profile="check", reward="binary")
            self.assertEqual(episode.observation.task, "add")
            self.assertIn("run", episode.observation.signature)
            self.assertEqual((episode.observation.turn, episode.observation.turns_left), (0, 3))
            steps = [c.step(episode.session, source) for source in (HONEST, WRONG, CRASHING)]
            self.assertEqual([s.status for s in steps], ["success", "incorrect", "runtime_error"])
            self.assertEqual([s.fault for s in steps], ["none", "candidate", "candidate"])
            self.assertEqual([s.reward for s in steps], [1.0, 0.0, 0.0])
            self.assertEqual([s.terminated or s.truncated for s in steps], [False, False, True])
            self.assertEqual([s.observation.turn for s in steps], [1, 2, 3])
            self.assertEqual(steps[1].observation.outcome, "incorrect")
            self.assertTrue(steps[1].observation.feedback)
            with self.assertRaises(touchstone.SessionClosedError):
                c.step(episode.session, HONEST)

    def test_a_models_answer_is_searched_for_its_code(self) -> None:
        with client() as c:
            good = c.score("add", response=ANSWER, profile="check", reward="binary")
            self.assertEqual((good.status, good.reward), ("success", 1.0))
            self.assertEqual(ANSWER[good.info.code_begin : good.info.code_end].strip(), HONEST.strip())
            none = c.score("add", response="I would rather not.", profile="check", reward="binary")
            self.assertEqual((none.status, none.fault), ("format_error", "candidate"))

    def test_bad_requests_name_the_field(self) -> None:
        with client() as c:
            with self.assertRaises(touchstone.InvalidArgumentError) as caught:
                c.reset("add", max_turns=0)
            self.assertEqual(caught.exception.field, "max_turns")
            with self.assertRaises(touchstone.NotFoundError):
                c.reset("no_such_task")
            with self.assertRaises(touchstone.NotFoundError):
                c.step("no_such_session", HONEST)
            with self.assertRaises(touchstone.InvalidArgumentError):
                c.score("add")  # neither source nor response
            with self.assertRaises(touchstone.TouchstoneError) as caught_size:
                c.score("add", "x" * (2 << 20))
            self.assertEqual(caught_size.exception.fault, "request")

    def test_a_wrong_turn_is_a_conflict_and_changes_nothing(self) -> None:
        with client() as c:
            episode = c.reset("add", max_turns=2, profile="check")
            with self.assertRaises(touchstone.ConflictError):
                c.step(episode.session, HONEST, turn=1)
            self.assertEqual(c.step(episode.session, HONEST, turn=0).observation.turn, 1)

    def test_the_same_request_id_is_answered_again_and_not_done_again(self) -> None:
        with client(name="twice") as c:
            episode = c.reset("add", max_turns=2, profile="check", request_id="reset-1")
            self.assertEqual(c.reset("add", max_turns=2, request_id="reset-1").session, episode.session)
            first = c.step(episode.session, HONEST, request_id="step-1")
            again = c.step(episode.session, HONEST, request_id="step-1")
            self.assertEqual(first.info.rollout, again.info.rollout)
            self.assertEqual(c.step(episode.session, WRONG).observation.turn, 2)

    def test_the_same_seed_draws_the_same_task_and_text(self) -> None:
        with client() as c:
            first, again = (c.reset(["add", "softmax", "gelu"], seed=11) for _ in range(2))
            self.assertEqual(first.observation.prompt, again.observation.prompt)

    def test_submitted_requests_are_collected_and_handed_out_once(self) -> None:
        with client() as c:
            ids = {c.submit_score("add", source, profile="check") for source in (HONEST, WRONG, NOT_CODE)}
            found: dict[str, str] = {}
            while len(found) < 3:
                for result in c.collect(max=2).results:
                    self.assertNotIn(result.id, found)
                    assert isinstance(result.result, touchstone.ScoreResult)
                    found[result.id] = result.result.status
            self.assertEqual(set(found), ids)
            self.assertEqual(set(found.values()), {"success", "incorrect", "compile_error"})
            self.assertEqual(c.collect(wait=0), touchstone.Collected((), 0))

    def test_a_deadline_in_the_past_is_an_outcome_and_no_error(self) -> None:
        with client() as c:
            late = c.score("add", HONEST, deadline=0.001)
            self.assertEqual((late.status, late.reward), ("deadline", None))
            self.assertTrue(late.info.why_none)

    def test_what_waits_can_be_cancelled(self) -> None:
        with client() as c:
            running = [c.submit_score("add", HONEST + f"// {i}", profile="check") for i in range(8)]
            self.assertTrue(c.cancel(running[-1]))
            last = c.collect([running[-1]]).results[0].result
            assert isinstance(last, touchstone.ScoreResult)
            self.assertEqual((last.status, last.reward), ("cancelled", None))
            self.assertFalse(c.cancel("never-sent"))

    def test_a_stored_rollout_is_measured_again(self) -> None:
        with client() as c:
            scored = c.score("add", WRONG, profile="check")
            again = c.validate(scored.info.rollout)
            self.assertEqual(again.again.status, "incorrect")
            self.assertTrue(again.agrees)

    def test_threads_share_a_client(self) -> None:
        with client() as c, ThreadPoolExecutor(4) as pool:
            statuses = pool.map(lambda s: c.score("add", s, profile="check").status, [HONEST, WRONG] * 4)
            self.assertEqual(list(statuses), ["success", "incorrect"] * 4)

    def test_health_and_metrics(self) -> None:
        with client() as c:
            health = c.health()
            self.assertTrue(health["ok"])
            self.assertTrue(health["slots"])
            self.assertIn("# HELP", c.metrics())

    def test_evaluations_are_counted_and_the_device_is_named(self) -> None:
        # Both stayed empty in the program, while the tests of the parts saw them filled.
        with client() as c:
            c.score("add", "no C++", profile="check", reward="binary")
            self.assertRegex(c.metrics(), r"touchstone_queue_wait_seconds_count [1-9]")
            self.assertTrue(c.describe()["device"]["cpu"])


class Restart(unittest.TestCase):
    def test_episodes_and_results_outlive_the_server(self) -> None:
        own = RealServer()
        self.addCleanup(own.stop)
        with touchstone.Client(own.address, name="survivor") as c:
            episode = c.reset("add", max_turns=3, profile="check")
            first = c.step(episode.session, HONEST, request_id="first")
            submitted = c.submit_step(episode.session, WRONG)
            own.kill()
            own.start()
            self.assertEqual(c.step(episode.session, HONEST, request_id="first").info.rollout, first.info.rollout)
            finished = c.collect([submitted]).results[0].result
            assert isinstance(finished, touchstone.StepResult)
            self.assertEqual((finished.status, finished.observation.turn), ("incorrect", 2))
            own.kill()
            with ThreadPoolExecutor() as pool:
                waiting = pool.submit(c.step, episode.session, CRASHING)
                own.start()
                self.assertEqual(waiting.result().status, "runtime_error")


class Keys(unittest.TestCase):
    def test_only_a_client_whose_key_is_allowed_is_served(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            public = {who: new_keys(folder / who) for who in ("server", "friend", "stranger")}
            (folder / "allowed").write_text(f"{public['friend']} friend\n")
            files = {"server.secret_key_file": folder / "server", "server.allowed_clients_file": folder / "allowed"}
            own = RealServer(**files)
            self.addCleanup(own.stop)
            friend = touchstone.CurveKeys.load(folder / "friend", public["server"])
            self.assertNotIn(friend.secret, repr(friend))
            with touchstone.Client(own.address, keys=friend) as c:
                self.assertIn("add", c.describe()["tasks"])
            stranger = touchstone.CurveKeys.load(folder / "stranger", public["server"])
            for keys in (stranger, None):
                with touchstone.Client(own.address, keys=keys, connect_timeout=0.5) as c:
                    with self.assertRaises(touchstone.UnavailableError):
                        c.describe()


class Gymnasium(unittest.TestCase):
    def make(self, **options: object) -> touchstone.gym.Env:
        made = gymnasium.make(
            "touchstone.gym:Touchstone-v0",
            tasks="add",
            address=server.address,
            profile="check",
            reward="binary",
            **options,  # type: ignore[arg-type]
        )
        self.addCleanup(made.close)
        assert isinstance(made.unwrapped, touchstone.gym.Env)
        return made.unwrapped

    def test_check_env_passes_without_a_warning(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(self.make(max_turns=8), skip_close_check=True)

    def test_an_episode(self) -> None:
        env = self.make(max_turns=2)
        observation, info = env.reset(seed=5)
        self.assertEqual((observation["turn"], observation["turns_left"]), (0, 2))
        self.assertIsInstance(info["observation"], touchstone.Observation)
        observation, reward, terminated, truncated, info = env.step(HONEST)
        self.assertEqual((reward, terminated, truncated, info["status"]), (1.0, False, False, "success"))
        observation, reward, terminated, truncated, info = env.step(WRONG)
        self.assertEqual((reward, info["status"]), (0.0, "incorrect"))
        self.assertTrue(truncated or terminated)
        self.assertIn(observation, env.observation_space)
        with self.assertRaises(gymnasium.error.ResetNeeded):
            env.step(HONEST)

    def test_a_models_answer_as_the_action(self) -> None:
        env = self.make(actions="response")
        env.reset(seed=5)
        self.assertEqual(env.step(ANSWER)[1], 1.0)

    def test_options_of_one_reset_have_precedence(self) -> None:
        env = self.make(max_turns=2)
        observation, _ = env.reset(options={"tasks": ["softmax"], "max_turns": 4})
        self.assertEqual((observation["task"], observation["turns_left"]), ("softmax", 4))


class Vector(unittest.TestCase):
    def make(self, count: int, **options: object) -> touchstone.VectorEnv:
        env = touchstone.VectorEnv(
            count,
            "add",
            address=server.address,
            profile="check",
            reward="binary",
            **options,  # type: ignore[arg-type]
        )
        self.addCleanup(env.close)
        return env

    def test_step_waits_for_all_and_resets_the_next_time(self) -> None:
        env = self.make(3, max_turns=1)
        observations, _ = env.reset(seed=1)
        self.assertIn(observations, env.observation_space)
        observations, rewards, terminations, truncations, infos = env.step([HONEST, WRONG, HONEST])
        self.assertEqual(rewards.tolist(), [1.0, 0.0, 1.0])
        self.assertTrue((terminations | truncations).all())
        self.assertEqual(list(infos["status"]), ["success", "incorrect", "success"])
        observations, rewards, terminations, truncations, _ = env.step(["ignored"] * 3)
        self.assertEqual(rewards.tolist(), [0.0] * 3)
        self.assertFalse((terminations | truncations).any())
        self.assertEqual(observations["turn"].tolist(), [0, 0, 0])
        self.assertIn(observations, env.observation_space)

    def test_the_first_that_finish_are_received_first(self) -> None:
        env = self.make(4, max_turns=100, batch_size=2)
        env.reset(seed=1)
        env.send([HONEST, WRONG, HONEST, WRONG])
        seen: list[int] = []
        for _ in range(4):
            _, rewards, _, _, infos = env.recv(timeout=60)
            ids = infos["env_id"].tolist()
            self.assertEqual(len(ids), 2)
            self.assertEqual(rewards.tolist(), [1.0 if i % 2 == 0 else 0.0 for i in ids])
            seen += ids
            env.send([HONEST if i % 2 == 0 else WRONG for i in ids], ids)
        self.assertGreaterEqual(len(set(seen)), 2)
        with self.assertRaisesRegex(ValueError, "has not been received"):
            env.send([HONEST], [0]) if 0 in env._waiting.values() else env.send([HONEST] * 4)

    def test_recv_without_send_is_an_error_and_does_not_hang(self) -> None:
        env = self.make(2)
        env.reset()
        with self.assertRaisesRegex(RuntimeError, "nothing is on its way"):
            env.recv()

    def test_a_request_that_fails_ends_its_episode_and_no_other(self) -> None:
        env = self.make(2, max_turns=5)
        env.reset(seed=1)
        session = env._sessions[1]
        assert session is not None
        env._client.close_session(session)
        _, rewards, _, truncations, infos = env.step([HONEST, HONEST])
        self.assertEqual(rewards[0], 1.0)
        self.assertTrue(math.isnan(rewards[1]))
        self.assertEqual(truncations.tolist(), [False, True])
        self.assertIsInstance(infos["error"][1], touchstone.SessionClosedError)
        observations, *_ = env.step([HONEST, "ignored"])
        self.assertEqual(observations["turn"].tolist(), [2, 0])

    def test_gymnasium_makes_it(self) -> None:
        env = gymnasium.make_vec("touchstone.gym:Touchstone-v0", num_envs=2, tasks="add", address=server.address)
        self.addCleanup(env.close)
        self.assertEqual(env.reset(seed=3)[0]["turn"].tolist(), [0, 0])
        self.assertEqual(env.metadata["autoreset_mode"], gymnasium.vector.AutoresetMode.NEXT_STEP)


class Adapters(unittest.IsolatedAsyncioTestCase):
    async def test_trl(self) -> None:
        reward = trl.touchstone_reward(server.address, profile="check", reward="binary")
        self.assertTrue(asyncio.iscoroutinefunction(reward))
        chat = [[{"role": "assistant", "content": ANSWER}], [{"role": "assistant", "content": "no"}]]
        given = await reward(
            prompts=["p", "p"], completions=chat, completion_ids=[[1], [2]], task=["add"] * 2, trainer_state=None
        )
        self.assertEqual(given, [1.0, 0.0])
        late = trl.touchstone_reward(server.address, deadline=0.001)
        self.assertEqual(await late(prompts=["p"], completions=[ANSWER], task=["add"]), [None])
        with self.assertRaises(touchstone.NotFoundError):
            await reward(prompts=["p"], completions=[ANSWER], task=["no_such_task"])

    async def test_verl(self) -> None:
        options: dict[str, Any] = {"address": server.address, "profile": "check", "reward": "binary"}
        good = await verl.compute_score("set", ANSWER, "add", {"index": 3}, **options)
        self.assertEqual((good["score"], good["fault"], good["status"]), (1.0, "none", "success"))
        late = await verl.compute_score("set", ANSWER, "?", {"task": "add"}, deadline=0.001, **options)
        self.assertEqual((late["score"], late["has_reward"], late["status"]), (0.0, False, "deadline"))
        self.assertEqual(good.keys(), late.keys())

    async def test_slime(self) -> None:
        args = types.SimpleNamespace(touchstone_address=server.address)
        sample = types.SimpleNamespace(response="no code", label="add", remove_sample=False)
        self.assertEqual(await slime.custom_rm(args, sample), 0.0)
        self.assertFalse(sample.remove_sample, "a wrong answer is trained on")
        gone = types.SimpleNamespace(touchstone_address=f"tcp://127.0.0.1:{server.port_of_nothing}")
        shared_client(gone.touchstone_address)._connection._connect_timeout = 0.1
        self.assertEqual(await slime.custom_rm(gone, sample), 0.0)
        self.assertTrue(sample.remove_sample)


class Examples(unittest.TestCase):
    def test_first_steps(self) -> None:
        printed = server.run_example("first_steps.py")
        self.assertRegex(printed, r"honest: (success|unstable), reward \d")
        self.assertRegex(printed, r"cheating: (incorrect|cheating), reward 0")
        rollouts = [line.split()[-1] for line in printed.splitlines() if "rollout" in line]
        self.assertEqual(len(rollouts), 2)
        for rollout, source in zip(rollouts, ("z[i] = x[i] + y[i]", "static bool done"), strict=True):
            self.assertIn(source, server.stored_source(rollout))


if __name__ == "__main__":
    unittest.main()
