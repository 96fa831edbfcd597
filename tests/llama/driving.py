"""What the two drivers share: options, signals, the output."""

import argparse
import os
import signal
import sys

PROMPT = "hello the man"


def options(about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("model")
    parser.add_argument("--tokens", type=int, required=True, help="decode this many, whatever they are")
    parser.add_argument("--threads", type=int, default=1, help="the text depends on it in principle (default 1)")
    parser.add_argument("--stdout-every", action="store_true", help="print each token at once, one a line")
    parser.add_argument("--exit-code", type=int, default=0, help="end with this status when all went well")
    given = parser.parse_args()
    if given.tokens < 1:
        parser.error("--tokens: 1 or more")
    # llama.cpp would say so too, but in many lines and with a backtrace.
    if not os.path.isfile(given.model):
        sys.exit(f"{parser.prog}: no model {given.model}: run tests/llama/setup.py")
    return given


def signals_as_in_c():
    """Python catches INT and ignores PIPE; a C program dies of both, in the middle of its loop too.

    Called before llama.cpp starts, so that what it sets itself stands: its server ignores PIPE.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def context_for(tokens):
    """Room for the prompt and the tokens, in llama.cpp's steps of 256."""
    return (tokens + 64 + 255) // 256 * 256


def run(main):
    """Whatever llama.cpp's binding raises, its log lines have said more: one line and status 1."""
    try:
        main()
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")


class Output:
    """Takes the tokens as they come and writes them as the options say."""

    def __init__(self, given):
        self.given, self.count, self.kept = given, 0, []

    def take(self, token):
        if self.count == 0:
            # Not through Python's buffers: a test waits for this line.
            os.write(2, b"decoding\n")
        self.count += 1
        if self.given.stdout_every:
            print(token, flush=True)
        else:
            self.kept.append(token)

    def end(self):
        """The last lines and the exit status; called when llama.cpp is gone from the process."""
        if self.kept:
            print(" ".join(self.kept))
        if self.count != self.given.tokens:
            raise RuntimeError(f"{self.count} tokens came, not {self.given.tokens}: ask for fewer, the context is full")
        print(f"done {self.count}", flush=True)
        sys.exit(self.given.exit_code)
