#!/usr/bin/env python3
"""Asks a policy server what to do about a snapshot, as a cluster manager in Python would.

Needs grpcio, protobuf, and grpcio-tools or protoc, which make the messages from serving/proto:

    python3 docs/examples/client.py --server 127.0.0.1:50051 \
        --snapshot experiments/snapshots/preempt.json

If the server does not answer in time, it does nothing, which is always legal: jobs that run go on,
and the next snapshot asks again. The C++ client would decide by a heuristic of its own.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import json_format

PROTO = pathlib.Path(__file__).resolve().parents[2] / "serving" / "proto"
SERVICE = "/yardmaster.v1.PolicyService/"
MAX_ANSWER_BYTES = 64 << 20


def load_messages():
    """Returns the module of the messages, made by grpcio-tools or, if that fails, by protoc."""
    with tempfile.TemporaryDirectory() as out:
        arguments = ["-I", str(PROTO), f"--python_out={out}", "yardmaster/v1/policy.proto"]
        errors = []
        for compiler in ([sys.executable, "-m", "grpc_tools.protoc"], ["protoc"]):
            try:
                run = subprocess.run(compiler + arguments, capture_output=True, text=True, check=False)
            except FileNotFoundError as error:
                errors.append(str(error))
                continue
            if run.returncode == 0:
                sys.path.insert(0, out)
                try:
                    from yardmaster.v1 import policy_pb2
                finally:
                    sys.path.pop(0)
                return policy_pb2
            errors.append(run.stderr)
    sys.exit("cannot make the messages from policy.proto:\n" + "\n".join(errors))


def connect(server, ca=None, cert=None, key=None):
    """Returns a channel: with TLS if `ca` is given, with mutual TLS if `cert` and `key` are too."""
    options = [
        ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
        # Reconnect soon after a server restart.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2000),
        ("grpc.enable_http_proxy", 0),
    ]
    if ca is None:
        return grpc.insecure_channel(server, options)

    def read(path):
        return None if path is None else pathlib.Path(path).read_bytes()

    credentials = grpc.ssl_channel_credentials(read(ca), read(key), read(cert))
    return grpc.secure_channel(server, credentials, options)


class PolicyClient:
    """Decides by a server, within a deadline."""

    def __init__(self, channel, messages, token=None):
        def method(name, request, response):
            return channel.unary_unary(
                SERVICE + name,
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )

        self._messages = messages
        self._decide = method("Decide", messages.DecideRequest, messages.DecideResponse)
        self._register = method("Register", messages.RegisterRequest, messages.RegisterResponse)
        self._report = method(
            "ReportOutcome", messages.ReportOutcomeRequest, messages.ReportOutcomeResponse
        )
        self._metadata = [] if token is None else [("authorization", "Bearer " + token)]

    def register(self, cluster, verbs, deadline_s):
        """Says which verbs (START, PREEMPT) the manager of a cluster can carry out. Returns the
        epoch to send with each of its requests. Register again if a request with it is refused
        (FAILED_PRECONDITION): the server has restarted, or another manager has registered."""
        request = self._messages.RegisterRequest(cluster=cluster, verbs=verbs)
        return self._register(request, timeout=deadline_s, metadata=self._metadata).epoch

    def report(self, cluster, outcomes, deadline_s):
        """Reports how jobs ended. Returns those that make no sense to the server. If this raises,
        keep the outcomes and report them again later; an outcome reported twice does no harm."""
        request = self._messages.ReportOutcomeRequest(cluster=cluster, outcomes=outcomes)
        return self._report(request, timeout=deadline_s, metadata=self._metadata).quarantined

    def decide(self, request, deadline_s):
        """Returns a DecideResponse, or None if there is none in time. Other errors are raised: the
        request is wrong (INVALID_ARGUMENT) or the token is (UNAUTHENTICATED)."""
        try:
            return self._decide(request, timeout=deadline_s, metadata=self._metadata)
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                print(f"no decision: {error.code().name}: {error.details()}", file=sys.stderr)
                return None
            raise


def first_token(path):
    """Returns the first token of a file of tokens."""
    lines = (line.strip() for line in pathlib.Path(path).read_text().splitlines())
    return next(line for line in lines if line and not line.startswith("#"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="127.0.0.1:50051")
    parser.add_argument("--snapshot", required=True, help="JSON file of a DecideRequest")
    parser.add_argument("--deadline-ms", type=float, default=1000)
    parser.add_argument("--tls-ca", help="PEM file; makes it TLS")
    parser.add_argument("--tls-cert", help="PEM file of the client's own certificate")
    parser.add_argument("--tls-key", help="PEM file of its key")
    parser.add_argument("--token-file")
    options = parser.parse_args()

    messages = load_messages()
    request = json_format.Parse(
        pathlib.Path(options.snapshot).read_text(), messages.DecideRequest()
    )
    token = None if options.token_file is None else first_token(options.token_file)
    with connect(options.server, options.tls_ca, options.tls_cert, options.tls_key) as channel:
        client = PolicyClient(channel, messages, token)
        try:
            answer = client.decide(request, options.deadline_ms / 1000)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")
    if answer is None:
        print("no action")
        return
    print(f"source {messages.Source.Name(answer.source)}, reason {messages.Reason.Name(answer.reason)}")
    for action in answer.actions:
        pieces = "".join(f" {piece.node}x{piece.gpus}" for piece in action.pieces)
        print(f"{messages.Verb.Name(action.verb)} {action.job}{pieces}")
    if not answer.actions:
        print("no action")


if __name__ == "__main__":
    main()
