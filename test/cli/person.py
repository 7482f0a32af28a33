#!/usr/bin/env python3
"""A person at a terminal, by script: runs a command on a pseudo terminal and does what the lines of standard input say.

  expect TEXT      wait until TEXT has been printed (after what earlier lines waited for)
  send TEXT        type TEXT; \\xNN, \\n and \\r as in Python
  wait SECONDS     look on
  paste N          type N bytes of lines of digits
  size ROWS COLS   change the window
  signal NAME      send the command a signal
  close            hang up
Last, prints one JSON object: status (-N when signal N killed it), text, and whether the terminal's modes are as they were before.
"""
import fcntl, json, os, pty, select, signal, struct, sys, termios, time

LIMIT = 90


def window(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


class Screen:
    def __init__(self, master, pid):
        self.master, self.pid, self.data, self.at, self.open = master, pid, b"", 0, True

    def pump(self, seconds):
        if not self.open:
            time.sleep(seconds)
            return
        if select.select([self.master], [], [], seconds)[0]:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                got = b""
            self.open = got != b""
            self.data += got

    def expect(self, text):
        end = time.time() + LIMIT
        while True:
            found = self.data.find(text, self.at)
            if found >= 0:
                self.at = found + len(text)
                return
            if time.time() > end or not self.open:
                raise SystemExit("no %r in %r" % (text, self.data[self.at :][-2000:]))
            self.pump(0.2)

    def send(self, data):
        while data:
            if select.select([], [self.master], [], 0.05)[1]:
                sent = os.write(self.master, data[:512])
                data = data[sent:]
            self.pump(0)


def main():
    script = [line.rstrip("\n") for line in sys.stdin]
    master, slave = pty.openpty()
    window(slave, 24, 80)
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        os.close(master)
        os.execvp(sys.argv[1], sys.argv[1:])
    screen = Screen(master, pid)
    closed = False
    for line in script:
        verb, _, rest = line.partition(" ")
        text = rest.encode().decode("unicode_escape").encode("latin-1") if "\\" in rest else rest.encode()
        if verb == "expect":
            screen.expect(text)
        elif verb == "send":
            screen.send(text)
        elif verb == "wait":
            screen.pump(0)
            time.sleep(float(rest))
        elif verb == "paste":
            screen.send((b"0123456789" * 6 + b"abc\n") * (int(rest) // 64))
        elif verb == "size":
            window(master, *map(int, rest.split()))
        elif verb == "signal":
            os.kill(pid, getattr(signal, rest))
        elif verb == "close":
            os.close(master)
            closed, screen.open = True, False
    end = time.time() + LIMIT
    status = None
    while status is None and time.time() < end:
        done, code = os.waitpid(pid, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        else:
            screen.pump(0.05)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        raise SystemExit("the command did not end; it printed %r" % screen.data[-2000:])
    for _ in range(5):
        screen.pump(0.02)
    # Other flags than those of the modes, PENDIN for one, may change by themselves.
    after = None if closed else termios.tcgetattr(slave)
    same = closed or (before[:2] == after[:2] and (before[3] ^ after[3]) & 0x1FFF == 0)
    print(json.dumps({"status": status, "text": screen.data.decode("utf-8", "replace"), "restored": same}))


main()
