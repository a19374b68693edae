"""Starts MiniStack with two of its delays taken out (both present in 1.5.33).

Each costs every invocation of a compiled function some 40 to 50 ms, which would be most of what a
test of latency measures:

* The Runtime API writes its headers and its body in two segments. Without TCP_NODELAY the second
  one waits for the delayed acknowledgement of the first.
* After an invocation the emulator waits 50 ms for a first line of log, also where none comes.
"""

import socketserver

import ministack.core.lambda_runtime as lambda_runtime
from ministack.app import main

socketserver.StreamRequestHandler.disable_nagle_algorithm = True
# first_line_wait, idle_confirm, hard_cap in seconds
lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (0.005, 0.002, 0.05)

main()
