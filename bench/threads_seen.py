"""How many cores each kind of thread of our program keeps busy while it trains, and for how many it
waits. Linux tells both for every thread (/proc/PID/task/TID/schedstat)."""
import os
import threading
import time

PROGRAM = "pipedream"
PERIOD = 0.5  # seconds between two looks
STEADY = (0.6, 0.95)  # the part of the program's life that counts: before, it starts; then it ends


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read().strip()


def thread_times(processes="/proc"):
    """By the thread's name, over all processes of our program: the seconds that threads of that
    name have run, and have waited for a core."""
    times = {}
    for process in filter(str.isdigit, os.listdir(processes)):
        try:
            if read(processes, process, "comm") != PROGRAM:
                continue
            tasks = os.path.join(processes, process, "task")
            for task in os.listdir(tasks):
                ran, waited, _ = map(int, read(tasks, task, "schedstat").split())
                of_name = times.setdefault(read(tasks, task, "comm"), [0.0, 0.0])
                of_name[0] += ran / 1e9
                of_name[1] += waited / 1e9
        except OSError:
            continue  # it has ended meanwhile
    return times


def cores_used(looks):
    """Between two of the looks, each a time and thread_times() then: by name, the cores that threads
    kept busy and those that they waited for. Names that did nothing are left out."""
    alive = [look for look in looks if look[1]]
    if len(alive) < 3:
        return {}
    (began, before), (ended, after) = (alive[int(share * len(alive))] for share in STEADY)
    used = {}
    for name, times in after.items():
        cores = [(late - early) / (ended - began)
                 for late, early in zip(times, before.get(name, [0.0, 0.0]))]
        if sum(cores) >= 0.005 and min(cores) >= 0:
            used[name] = {"runs": cores[0], "waits": cores[1]}
    return used


def text_of(used):
    """Of cores_used(), the busiest first."""
    names = sorted(used, key=lambda name: -used[name]["runs"])
    return ", ".join(f"{name} {used[name]['runs']:.2f} (waits for {used[name]['waits']:.2f} more)"
                     for name in names)


class ThreadsSeen:
    """Looks at the threads as long as the block lasts; then `used` is cores_used()."""

    def __enter__(self):
        self.looks, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.ended.wait(PERIOD):
            self.looks.append((time.monotonic(), thread_times()))

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.used = cores_used(self.looks)
