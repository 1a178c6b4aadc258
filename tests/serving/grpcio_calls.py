"""Calls a policy server with grpcio, as another language's client does: python_client_test.cc runs
it with the folder of docs/examples/client.py and a JSON file of addresses and files."""
import json
import pathlib
import sys
import time

import grpc
from google.protobuf import json_format

sys.path.insert(0, sys.argv[1])
import client  # noqa: E402

at = json.loads(pathlib.Path(sys.argv[2]).read_text())
messages = client.load_messages()
request = json_format.Parse(pathlib.Path(at["snapshot"]).read_text(), messages.DecideRequest())
token = client.first_token(at["token_file"])
DEADLINE_S = 20


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: expected {wanted}, got {got}")


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def connect(server, own=True):
    return client.connect(
        server, at["ca"], at["cert"] if own else None, at["key"] if own else None
    )


with connect(at["grpc"]) as channel:
    # The example decides, and the answer is the policy's.
    answer = client.PolicyClient(channel, messages, token).decide(request, DEADLINE_S)
    expect("source", messages.Source.Name(answer.source), "POLICY")
    expect("actions", [action.job for action in answer.actions], ["long", "fresh"])

    # A manager that cannot preempt gets no preemption. An older epoch is refused.
    manager = client.PolicyClient(channel, messages, token)
    epoch = manager.register("lab", [messages.START], DEADLINE_S)
    registered = messages.DecideRequest()
    registered.CopyFrom(request)
    registered.cluster = "lab"
    registered.epoch = epoch
    expect("registered", len(manager.decide(registered, DEADLINE_S).actions), 0)
    registered.epoch = epoch - 1
    expect("epoch", code_of(lambda: manager.decide(registered, DEADLINE_S)), "FAILED_PRECONDITION")
    ended = messages.Outcome(job="done", end=messages.Outcome.COMPLETED, run_s=5)
    odd = messages.Outcome(job="odd")
    expect("odd", [one.id for one in manager.report("lab", [ended, odd], DEADLINE_S)], ["odd"])

    # Health: empty messages are the default ones, {status: SERVING} is 08 01.
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    expect("health", check(b"", timeout=DEADLINE_S), b"\x08\x01")
    expect("health of nothing", code_of(lambda: check(b"\x0a\x03xyz", timeout=DEADLINE_S)), "NOT_FOUND")

    # Reflection: {list_services: "*"}.
    reflect = channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    )
    services = b"".join(reflect(iter([b"\x3a\x01*"]), timeout=DEADLINE_S))
    for service in (b"yardmaster.v1.PolicyService", b"grpc.health.v1.Health"):
        expect(f"{service} in the reflection", service in services, True)

    # Tokens.
    for wrong in (None, "none-of-the-tokens-here"):
        expect(
            f"token {wrong}",
            code_of(lambda: client.PolicyClient(channel, messages, wrong).decide(request, DEADLINE_S)),
            "UNAUTHENTICATED",
        )

    # Bytes that are no request, and a request that contradicts itself.
    decide = channel.unary_unary(client.SERVICE + "Decide")
    metadata = [("authorization", "Bearer " + token)]
    bad = messages.DecideRequest()
    for raw in (b"\xff\xff\xff", bad.SerializeToString()):
        expect(
            f"request {raw}",
            code_of(lambda: decide(raw, timeout=DEADLINE_S, metadata=metadata)),
            "INVALID_ARGUMENT",
        )

    # A stream, which is cancelled while it waits.
    stream = channel.stream_stream(
        "/yardmaster.v1.PolicyService/DecideStream",
        request_serializer=messages.DecideRequest.SerializeToString,
        response_deserializer=messages.DecideResponse.FromString,
    )

    def requests():
        yield request
        time.sleep(DEADLINE_S)

    call = stream(requests(), metadata=metadata)
    expect("streamed", messages.Source.Name(next(call).source), "POLICY")
    call.cancel()
    expect("stream", code_of(lambda: next(call)), "CANCELLED")

    # A call that is cancelled, and deadlines that pass, before and in the server.
    future = decide.future(request.SerializeToString(), metadata=metadata)
    future.cancel()
    expect("cancelled", future.cancelled(), True)
    # An id would get these requests the answer to the same request above.
    request.ClearField("request_id")
    passed = client.PolicyClient(channel, messages, token).decide(request, -1)
    expect("deadline that has passed", passed, None)
    # gRPC rounds a short deadline up: the server may still answer by its policy in time.
    for _ in range(20):
        client.PolicyClient(channel, messages, token).decide(request, 1e-6)
    for _ in range(20):  # in time and late ones; each is an answer or none
        client.PolicyClient(channel, messages, token).decide(request, 0.002)
    answer = client.PolicyClient(channel, messages, token).decide(request, DEADLINE_S)
    expect("source after all that", messages.Source.Name(answer.source), "POLICY")

# A server whose policy hangs answers by its heuristic.
with connect(at["hanging"]) as channel:
    answer = client.PolicyClient(channel, messages, token).decide(request, DEADLINE_S)
    expect("source without the policy", messages.Source.Name(answer.source), "HEURISTIC")
    expect("reason", messages.Reason.Name(answer.reason), "DEADLINE")

# Certificates: without the client's own, and plain text, there is no answer.
with connect(at["grpc"], own=False) as channel:
    expect("without certificate", client.PolicyClient(channel, messages, token).decide(request, DEADLINE_S), None)
with grpc.insecure_channel(at["grpc"]) as channel:
    expect("plain text", client.PolicyClient(channel, messages, token).decide(request, DEADLINE_S), None)
with grpc.insecure_channel("127.0.0.1:1") as channel:
    expect("no server", client.PolicyClient(channel, messages, token).decide(request, DEADLINE_S), None)
print("done")
