"""A server of the same calls in Python (pyzmq, msgpack), for comparison: `reset` and `step` with a null evaluator and no
store. It does what every such server has to do: unpack, check, look the session up, make the reply's map, pack it."""

import pathlib
import sys
import uuid

import msgpack
import zmq


def main():
    endpoint, sample = sys.argv[1], pathlib.Path(sys.argv[2])
    step_reply = msgpack.unpackb(sample.read_bytes())
    sessions = {}
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    socket.setsockopt(zmq.LINGER, 0)
    socket.bind(endpoint)
    print(socket.getsockopt_string(zmq.LAST_ENDPOINT), flush=True)
    while True:
        peer, request_id, method, payload = socket.recv_multipart()
        request = msgpack.unpackb(payload)
        if request.get("v") != 1 or not isinstance(request.get("client"), str):
            socket.send_multipart([peer, request_id, b"error", msgpack.packb({"v": 1, "code": "invalid_argument"})])
        elif method == b"reset":
            session = uuid.uuid4().hex
            sessions[session] = 0
            reply = {"v": 1, "session": session, "observation": step_reply["observation"], "reward_preset": "binary",
                     "reward_low": 0.0, "reward_high": 1.0, "exemplars_as_of": 0}
            socket.send_multipart([peer, request_id, b"ok", msgpack.packb(reply)])
        elif method == b"step":
            session = request["session"]
            sessions[session] += 1
            info = dict(step_reply["info"], rollout=uuid.uuid4().hex)
            observation = dict(step_reply["observation"], turn=sessions[session])
            reply = dict(step_reply, session=session, observation=observation, info=info)
            socket.send_multipart([peer, request_id, b"ok", msgpack.packb(reply)])
        else:
            socket.send_multipart([peer, request_id, b"error", msgpack.packb({"v": 1, "code": "invalid_argument"})])


main()
