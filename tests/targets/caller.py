"""Becomes another program in an unusual state: caller.py [--ignore SIG] [--block SIG] [--close FD] [--open FD] … -- CMD"""
import os
import resource
import signal
import sys

words = sys.argv[1:]
# Python itself ignores SIGPIPE: a usual caller does not.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
closing = []
while words[0] != "--":
    option, value = words.pop(0), words.pop(0)
    if option == "--ignore":
        signal.signal(getattr(signal, f"SIG{value}"), signal.SIG_IGN)
    elif option == "--block":
        signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, f"SIG{value}")])
    elif option == "--close":
        closing.append(int(value))
    elif option == "--open":
        fd = os.open("/dev/zero", os.O_RDONLY)
        os.dup2(fd, int(value), inheritable=True)
        os.close(fd)
    elif option == "--umask":
        os.umask(int(value, 8))
    elif option == "--nice":
        os.nice(int(value))
    elif option == "--nofile":
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(value), int(value)))
    elif option == "--core":
        resource.setrlimit(resource.RLIMIT_CORE, (int(value), int(value)))
    else:
        sys.exit(f"caller.py: {option}?")
for fd in closing:
    os.close(fd)
os.execvp(words[1], words[1:])
