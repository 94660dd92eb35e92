"""A ROUTER that answers as a test tells it to: for faults that the real server does not make when asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgpack
import zmq

Answer = tuple[bytes, Any]  # (b"ok" or b"error", the payload as a map, or as raw bytes); None: silence
Handler = Callable[[str, dict[str, Any]], Answer | list[Answer] | None]


def ok(**fields: Any) -> Answer:
    return b"ok", {"v": 1, **fields}


def error(code: str, **fields: Any) -> Answer:
    return b"error", {"v": 1, "code": code, "message": f"{code} it is", "field": "", "fault": "request", **fields}


class FakeServer:
    """`handler(method, fields)` is called for each request on the server's thread; `requests` is what came."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        self._handler = handler
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        if port:
            self._socket.bind(f"tcp://127.0.0.1:{port}")
        else:
            port = self._socket.bind_to_random_port("tcp://127.0.0.1")
        self.port = port
        self.address = f"tcp://127.0.0.1:{port}"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self._socket.poll(20):
                continue
            peer, request_id, method, payload = self._socket.recv_multipart()
            fields = msgpack.unpackb(payload)
            self.requests.append((request_id.decode(), method.decode(), fields))
            answers = self._handler(method.decode(), fields)
            for kind, body in [answers] if isinstance(answers, tuple) else answers or []:
                packed = body if isinstance(body, bytes) else msgpack.packb(body)
                self._socket.send_multipart([peer, request_id, kind, packed])
        self._context.destroy(0)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
