"""Runs the program and judges how it ended.

A fault is: death by a signal that was not ours, no end within the time, exit status 70 (a bug of ours) or another one
that is not documented, a refusal that is not exactly one line on standard error, control characters in what is printed.
"""
import ctypes
import os
import re
import resource
import signal
import subprocess
import time
from dataclasses import dataclass, field

REFUSED = (1, 2)
TIMEOUT = 120  # seconds; a case takes about one
LIBC = ctypes.CDLL(None, use_errno=True)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2  # linux/prctl.h, linux/capability.h
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass
class Outcome:
    status: int
    out: bytes
    err: bytes
    hung: bool = False
    seconds: float = 0.0

    @property
    def refused(self):
        return self.status in REFUSED

    def complaint(self):
        """The line that says why, or "" where there is none."""
        lines = [line for line in self.err.decode("utf-8", "replace").splitlines() if line.startswith("lengthwise: ")]
        return lines[0] if len(lines) == 1 else ""

    def fault(self):
        """What is wrong with this end, or ""."""
        if self.hung:
            return "hang"
        if self.status < 0:
            return f"crash (signal {-self.status})"
        if self.status == 70:
            return "exit 70"
        if self.status not in (0, *REFUSED):
            return f"exit {self.status}"
        if self.status == 2 and not self.complaint():
            return "no single line of complaint"
        if CONTROL.search(self.out) or CONTROL.search(self.err):
            return "control characters"
        return ""


@dataclass
class Limits:
    """What the operating system denies the program."""

    file_bytes: int = 0
    memory_bytes: int = 0
    open_files: int = 0
    permission: bool = False  # modes of files hold for root as well; it stays root, who alone may reach our own files
    environment: dict = field(default_factory=dict)

    def apply(self):
        if self.file_bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_bytes, self.file_bytes))
        if self.memory_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory_bytes, self.memory_bytes))
        if self.open_files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.open_files, self.open_files))
        if self.permission and os.getuid() == 0:
            for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
                if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                    raise OSError(ctypes.get_errno(), "a capability cannot be given up")


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def start(self, arguments, folder, limits=None):
        environment = dict(os.environ, OMP_NUM_THREADS="1", **(limits.environment if limits else {}))
        # Signals stay as Python has them: SIGXFSZ ignored, so that a limit of file sizes is an error like a full disk.
        return subprocess.Popen([self.path, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=False,
                                preexec_fn=limits.apply if limits else None, start_new_session=True)

    def run(self, arguments, folder, limits=None, timeout=TIMEOUT):
        started = time.monotonic()
        process = self.start(arguments, folder, limits)
        return self.end(process, started, timeout)

    def end(self, process, started, timeout=TIMEOUT):
        hung = False
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            hung = True
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return Outcome(process.returncode, out, err, hung, time.monotonic() - started)


class Record:
    """Counts by kind, and every fault with what led to it."""

    def __init__(self):
        self.counts = {}
        self.faults = []

    def count(self, kind, result, amount=1):
        row = self.counts.setdefault(kind, {})
        row[result] = row.get(result, 0) + amount

    def fault(self, kind, what, case, outcome=None):
        self.count(kind, what)
        entry = {"kind": kind, "fault": what, "case": case}
        if outcome is not None:
            entry["status"] = outcome.status
            entry["err"] = outcome.err.decode("utf-8", "replace")[-600:]
        self.faults.append(entry)
        print(f"FAULT {kind}: {what}: {case}"
              + (f"\n      {entry['err'].strip().splitlines()[-1:]}" if outcome is not None else ""), flush=True)
