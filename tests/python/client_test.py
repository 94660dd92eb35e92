"""The client against servers that lose replies, refuse, talk rubbish, restart or say nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import touchstone
from fake_server import Answer, FakeServer, error, ok
from touchstone import _connection


def wait_until(condition: Any, what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"never: {what}")
        time.sleep(0.005)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def closed(method: str, fields: dict[str, Any]) -> Answer:
    return ok(closed=True)


class Requests(unittest.TestCase):
    def test_carries_version_client_and_fields(self) -> None:
        with FakeServer(closed) as server, touchstone.Client(server.address, name="me") as client:
            self.assertTrue(client.close_session("s1"))
            request_id, method, fields = server.requests[0]
            self.assertEqual(method, "close")
            self.assertEqual(fields, {"v": 1, "client": "me", "session": "s1"})
            self.assertTrue(1 <= len(request_id) <= 64)

    def test_what_changes_nothing_names_no_client(self) -> None:
        with FakeServer(lambda *_: ok(items=[], as_of=3)) as server, touchstone.Client(server.address) as client:
            self.assertEqual(client.sample("add", count=2, seed=7), touchstone.Sample((), 3))
            self.assertEqual(server.requests[0][2], {"v": 1, "task": "add", "count": 2, "seed": 7})

    def test_seconds_become_whole_milliseconds_and_none_is_left_out(self) -> None:
        with FakeServer(lambda *_: error("not_found")) as server, touchstone.Client(server.address) as client:
            with self.assertRaises(touchstone.NotFoundError):
                client.step("s1", "source", deadline=1.5, priority=2)
            fields = server.requests[0][2]
            self.assertEqual(fields["deadline_ms"], 1500)
            self.assertNotIn("response", fields)

    def test_an_unknown_option_is_an_error_before_anything_is_sent(self) -> None:
        with FakeServer(closed) as server, touchstone.Client(server.address) as client:
            with self.assertRaisesRegex(TypeError, "step has no option 'dedline'"):
                client.step("s1", "source", dedline=3)  # type: ignore[call-arg]
            client.close_session("s1")
            self.assertEqual(len(server.requests), 1)


class Errors(unittest.TestCase):
    def test_carry_code_fault_field_limit_and_request_id(self) -> None:
        answer = error("invalid_argument", field="max_turns", limit=10_000)
        with FakeServer(lambda *_: answer) as server, touchstone.Client(server.address) as client:
            with self.assertRaises(touchstone.InvalidArgumentError) as caught:
                client.reset("add", max_turns=0)
            raised = caught.exception
            self.assertEqual(
                (raised.code, raised.fault, raised.field, raised.limit),
                ("invalid_argument", "request", "max_turns", 10_000),
            )
            self.assertEqual(raised.request_id, server.requests[0][0])

    def test_a_code_of_a_newer_server_is_a_plain_error(self) -> None:
        with FakeServer(lambda *_: error("eclipse")) as server, touchstone.Client(server.address) as client:
            with self.assertRaises(touchstone.TouchstoneError) as caught:
                client.describe()
            self.assertEqual(caught.exception.code, "eclipse")

    def test_rubbish_is_a_protocol_error_and_the_client_goes_on(self) -> None:
        rubbish: list[Answer] = [(b"ok", b"\xc1"), (b"ok", b""), (b"what", {}), (b"ok", [1]), ok(closed="yes"), ok()]
        with FakeServer(lambda *_: rubbish.pop(0) if rubbish else ok(closed=True)) as server:
            with touchstone.Client(server.address) as client:
                while rubbish:
                    with self.assertRaises(touchstone.ProtocolError):
                        client.close_session("s1")
                self.assertTrue(client.close_session("s1"))

    def test_a_missing_field_is_named(self) -> None:
        answer = ok(items=[{"rollout": "r", "sequence": 1, "source": "", "score": 1.0}], as_of=1)
        with FakeServer(lambda *_: answer) as server, touchstone.Client(server.address) as client:
            with self.assertRaisesRegex(touchstone.ProtocolError, r"reply\.items\[0\]\.probability is missing"):
                client.sample("add")

    def test_a_second_answer_is_left_aside(self) -> None:
        with FakeServer(lambda *_: [ok(closed=True), ok(closed=False)]) as server:
            with touchstone.Client(server.address) as client:
                self.assertTrue(client.close_session("s1"))
                self.assertTrue(client.close_session("s2"))


class Patience(unittest.TestCase):
    def test_busy_comes_back_after_the_time_that_the_server_names(self) -> None:
        refusals = [error("busy", retry_after_ms=30)] * 3
        with FakeServer(lambda *_: refusals.pop() if refusals else ok(closed=True)) as server:
            with touchstone.Client(server.address) as client:
                self.assertTrue(client.close_session("s1"))
            self.assertEqual(len({request[0] for request in server.requests}), 1, "the same request each time")
            self.assertEqual(len(server.requests), 4)

    def test_busy_for_longer_than_the_patience_is_an_error(self) -> None:
        with FakeServer(lambda *_: error("busy", retry_after_ms=20, fault="environment")) as server:
            with touchstone.Client(server.address, patience=0.2) as client:
                with self.assertRaises(touchstone.BusyError) as caught:
                    client.close_session("s1")
            self.assertEqual(caught.exception.retry_after, 0.02)
            self.assertEqual(caught.exception.fault, "environment")
            self.assertGreater(len(server.requests), 2)

    def test_no_server_is_said_and_not_waited_for_without_end(self) -> None:
        address = f"tcp://127.0.0.1:{free_port()}"
        with touchstone.Client(address, connect_timeout=0.2) as client:
            with self.assertRaisesRegex(touchstone.UnavailableError, f"{address} does not answer: .* describe"):
                client.describe()

    def test_an_address_that_is_none_is_said_at_once(self) -> None:
        with self.assertRaisesRegex(touchstone.UnavailableError, "cannot connect to 'nowhere'"):
            touchstone.Client("nowhere")

    def test_silence_ends_with_what_was_waited_for(self) -> None:
        with FakeServer(lambda *_: None) as server, touchstone.Client(server.address) as client:
            with self.assertRaisesRegex(
                touchstone.RequestTimeoutError, r"no answer to step of s7 from tcp:.*connected"
            ):
                client.step("s7", "source", timeout=0.2)
            with self.assertRaises(TimeoutError):
                client.reset("add", timeout=0.05)


class LostReplies(unittest.TestCase):
    def test_a_lost_reply_is_asked_for_again_by_the_same_id(self) -> None:
        lost = [None, None]
        with mock.patch.object(_connection, "FIRST_RESEND_S", 0.05):
            with FakeServer(lambda *_: lost.pop() if lost else ok(closed=True)) as server:
                with touchstone.Client(server.address) as client:
                    self.assertTrue(client.close_session("s1"))
                self.assertEqual(len(server.requests), 3)
                self.assertEqual(len({request[0] for request in server.requests}), 1)

    def test_a_restarted_server_gets_the_same_request_again(self) -> None:
        first = FakeServer(lambda *_: None)
        with touchstone.Client(first.address) as client, ThreadPoolExecutor(10) as pool:
            waiting = [pool.submit(client.close_session, f"s{i}") for i in range(10)]
            wait_until(lambda: len(first.requests) == 10, "all requests reached the first server")
            first.stop()
            with FakeServer(closed, first.port) as second:
                self.assertTrue(all(future.result() for future in waiting))
                self.assertLessEqual({r[0] for r in first.requests}, {r[0] for r in second.requests})

    def test_a_server_that_comes_late_is_waited_for(self) -> None:
        port = free_port()
        with touchstone.Client(f"tcp://127.0.0.1:{port}") as client, ThreadPoolExecutor(10) as pool:
            waiting = pool.submit(client.close_session, "s1")
            wait_until(lambda: client._connection._requests, "the request waits")
            with FakeServer(closed, port):
                self.assertTrue(waiting.result())

    def test_a_server_that_stays_away_is_said(self) -> None:
        server = FakeServer(lambda *_: None)
        with touchstone.Client(server.address, patience=0.2) as client, ThreadPoolExecutor(10) as pool:
            waiting = pool.submit(client.close_session, "s1")
            wait_until(lambda: server.requests, "the request is there")
            server.stop()
            with self.assertRaisesRegex(touchstone.UnavailableError, "has been away"):
                waiting.result()


class Collecting(unittest.TestCase):
    def test_results_are_handed_out_once_and_acknowledged_by_the_next_call(self) -> None:
        def handler(method: str, fields: dict[str, Any]) -> Answer:
            failed = {"id": "a", "ok": False, "call": "step", "error": {"code": "closed", "message": "gone"}}
            return ok(results=[failed], pending=1)

        with FakeServer(handler) as server, touchstone.Client(server.address) as client:
            first, second, third = client.collect(), client.collect(), client.collect(["a"])
            self.assertIsInstance(first.results[0].error, touchstone.SessionClosedError)
            self.assertEqual((first.results[0].id, first.pending), ("a", 1))
            self.assertNotIn("ack", server.requests[0][2])
            self.assertEqual(server.requests[1][2]["ack"], ["a"])
            self.assertEqual(len(second.results), 1, "the server hands it out once more after the acknowledgement")
            self.assertEqual(server.requests[2][2]["ids"], ["a"])
            self.assertEqual(len(third.results), 1)


class ThreadsAndProcesses(unittest.TestCase):
    def test_many_threads_share_one_client(self) -> None:
        def echo(method: str, fields: dict[str, Any]) -> Answer:
            return ok(closed=int(fields["session"]) % 2 == 0)

        with FakeServer(echo) as server, touchstone.Client(server.address) as client:
            with ThreadPoolExecutor(16) as pool:
                answers = list(pool.map(client.close_session, map(str, range(400))))
            self.assertEqual(answers, [i % 2 == 0 for i in range(400)])

    def test_close_ends_what_waits(self) -> None:
        with FakeServer(lambda *_: None) as server, ThreadPoolExecutor() as pool:
            client = touchstone.Client(server.address)
            waiting = pool.submit(client.close_session, "s1")
            wait_until(lambda: server.requests, "the request is there")
            client.close()
            client.close()
            with self.assertRaises(touchstone.ClientClosedError):
                waiting.result()
            with self.assertRaises(touchstone.ClientClosedError):
                client.close_session("s1")
            self.assertFalse([t for t in threading.enumerate() if t.name.startswith("touchstone")])

    def test_a_forked_process_is_told_and_does_not_hang(self) -> None:
        with FakeServer(closed) as server, touchstone.Client(server.address) as client:
            client.close_session("s1")
            child = os.fork()
            if child == 0:
                try:
                    client.close_session("s2")
                except RuntimeError as told:
                    os._exit(0 if "fork" in str(told) else 1)
                os._exit(2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertTrue(client.close_session("s3"))

    def test_a_bug_in_the_thread_reaches_the_callers(self) -> None:
        with FakeServer(closed) as server, touchstone.Client(server.address) as client:
            with mock.patch.object(client._connection, "_receive", side_effect=ZeroDivisionError("bug")):
                with self.assertRaisesRegex(touchstone.TouchstoneError, "own thread failed: ZeroDivisionError"):
                    client.close_session("s1")


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def test_many_calls_overlap(self) -> None:
        with FakeServer(closed) as server:
            async with touchstone.AsyncClient(server.address) as client:
                answers = await asyncio.gather(*(client.close_session(f"s{i}") for i in range(200)))
                self.assertTrue(all(answers))

    async def test_giving_up_on_one_call_loses_no_other(self) -> None:
        """A cancelled receive once lost other requests' replies in another project's client."""

        def handler(method: str, fields: dict[str, Any]) -> Answer | None:
            return None if method == "step" else ok(closed=True, cancelled=True)

        with FakeServer(handler) as server:
            async with touchstone.AsyncClient(server.address) as client:
                for i in range(50):
                    lost = asyncio.wait_for(client.step("s1", "source"), 0.001)
                    answers = await asyncio.gather(lost, client.close_session(f"s{i}"), return_exceptions=True)
                    self.assertIsInstance(answers[0], TimeoutError)
                    self.assertIs(answers[1], True)

    async def test_cancelling_a_task_cancels_the_step_on_the_server(self) -> None:
        def handler(method: str, fields: dict[str, Any]) -> Answer | None:
            return None if method == "step" else ok(cancelled=True)

        with FakeServer(handler) as server:
            async with touchstone.AsyncClient(server.address) as client:
                task = asyncio.create_task(client.step("s1", "source"))
                await asyncio.to_thread(wait_until, lambda: server.requests, "the step is there")
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await asyncio.to_thread(wait_until, lambda: len(server.requests) > 1, "the cancellation is there")
                self.assertEqual(
                    server.requests[1][1:], ("cancel", {"v": 1, "client": client.name, "id": server.requests[0][0]})
                )


if __name__ == "__main__":
    unittest.main()
