"""Says `ready`, then each signal that comes, one line each, until the file in its first argument is there.

signals.py FILE [--kill-parents SIG] [--exit-on SIG CODE] [--stderr-on SIG TEXT]
"""
import os
import signal
import sys

words = sys.argv[1:]
stop = words.pop(0)
exits, texts, back = {}, {}, None
while words:
    option = words.pop(0)
    number = signal.Signals[f"SIG{words.pop(0)}"]
    if option == "--kill-parents":
        back = number
    elif option == "--exit-on":
        exits[number] = int(words.pop(0))
    elif option == "--stderr-on":
        texts[number] = words.pop(0)

names = ["HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "VTALRM", "WINCH", "CONT"]
taken = {signal.Signals[f"SIG{name}"] for name in names} | {signal.SIGRTMIN, signal.SIGRTMIN + 3}
signal.pthread_sigmask(signal.SIG_BLOCK, taken)


def say(text):
    os.write(1, f"{text}\n".encode())


if back is not None:
    supervisor = os.getppid()
    with open(f"/proc/{supervisor}/stat", encoding="utf-8") as stat:
        front = int(stat.read().rpartition(")")[2].split()[1])
    os.kill(supervisor, back)
    os.kill(front, back)
say("ready")
while not os.path.exists(stop):
    got = signal.sigtimedwait(taken, 0.02)
    # A stop and a continue can end the wait with nothing.
    if got is None or got.si_signo == 0:
        continue
    say(f"got {got.si_signo}")
    if got.si_signo in texts:
        os.write(2, f"{texts[got.si_signo]}\n".encode())
    if got.si_signo in exits:
        sys.exit(exits[got.si_signo])
