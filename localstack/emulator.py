"""Starts MiniStack, fitted to one small machine and to compiled functions (1.5.33).

Two delays are taken out. Each costs every invocation some 40 to 50 ms, which would be most of what a
test of latency measures:

* The Runtime API writes its headers and its body in two segments. Without TCP_NODELAY the second
  one waits for the delayed acknowledgement of the first.
* After an invocation the emulator waits 50 ms for a first line of log, also where none comes.

And a function has at most ENVIRONMENTS processes; what comes meanwhile waits its turn. The emulator
would start one more for each call in flight, as AWS does, but AWS starts them elsewhere: here a rush
of a few hundred fans would start a few hundred processes, which starve each other of two cores.

Standard queues are fair, as those of AWS are: of a message group that has little in flight the messages
come first, so that one that floods a queue holds up no other. The emulator keeps the group and does
nothing with it.
"""

import collections
import os
import socketserver
import threading
import time

import ministack.core.lambda_runtime as lambda_runtime
import ministack.services.lambda_svc as lambda_service
import ministack.services.sqs as queue_service
from ministack.app import main

socketserver.StreamRequestHandler.disable_nagle_algorithm = True
# first_line_wait, idle_confirm, hard_cap in seconds
lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (0.005, 0.002, 0.05)

environments = int(os.environ["ENVIRONMENTS"])
turns = collections.defaultdict(lambda: threading.BoundedSemaphore(environments))
execute = lambda_service._execute_function_provided_warm


def execute_in_turn(function, event, request_id):
    # No function waits for another one's answer, so waiting can't deadlock.
    with turns[function["config"]["FunctionName"]]:
        return execute(function, event, request_id)


lambda_service._execute_function_provided_warm = execute_in_turn

collect = queue_service._collect_msgs


def collect_fairly(queue, most, hidden_for):
    now = time.time()
    messages = queue["messages"]
    taken = (m for m in messages if m["visible_at"] > now and m.get("receive_count"))
    in_flight = collections.Counter(m.get("group_id") for m in taken)
    messages.sort(key=lambda message: in_flight[message.get("group_id")])  # keeps the order within a group
    return collect(queue, most, hidden_for)


queue_service._collect_msgs = collect_fairly

main()
