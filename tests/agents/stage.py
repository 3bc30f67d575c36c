"""Runs an agent beside a fake model, and leaves nothing behind.

    stage.py PORT SCRIPT LOG SECONDS SIGNAL FILE COMMAND...

The model lives as long as the agent. The agent gets a signal, as INT is what Ctrl-C sends, once the file FILE is there (none,
where that is empty), and is killed after SECONDS; the exit code is the agent's, 128 + n where signal n ended it. Of what the
agent leaves running, edio is waited for, and all else is killed.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from fake_model import FakeModel

PR_SET_CHILD_SUBREAPER = 36
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def main(port, script, log, seconds, name, file, *command):
    # What loses its parent becomes a child of this process, and can be found.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    start_loopback()
    with open(script, encoding="utf-8") as text:
        model = FakeModel(int(port), json.load(text), log)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    agent = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + float(seconds)
    while agent.poll() is None:
        if file and os.path.exists(file):
            os.killpg(agent.pid, signal.Signals["SIG" + name])
            file = None
        if time.monotonic() > end:
            print("it took longer than %s s" % seconds, file=sys.stderr)
            os.killpg(agent.pid, signal.SIGKILL)
        time.sleep(0.02)
    while left := children():
        for process, name in left:
            if name != "edio" or time.monotonic() > end:
                os.kill(process, signal.SIGKILL)
        if os.waitpid(-1, os.WNOHANG) == (0, 0):
            time.sleep(0.02)
    return agent.returncode if agent.returncode >= 0 else 128 - agent.returncode


def start_loopback():
    """A network namespace of one's own has nothing in it but the loopback interface, which is down at first."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        if not flags & IFF_UP:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def children():
    """The children of this process: their ids and names."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % process, encoding="utf-8", errors="replace") as stat:
                name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if int(rest.split()[1]) == os.getpid():
            found.append((int(process), name))
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
