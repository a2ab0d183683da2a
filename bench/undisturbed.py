"""Measures only while the processors are this machine's own.

A host of several virtual machines takes processors from one for another, which Linux counts as
stolen time. Other programs of this machine take them too. What was measured meanwhile says nothing
about a program, and is measured again.
"""
import os
import sys
import time

MOST_STOLEN = 0.02  # of the time for which processors were wanted: less than runs differ anyway
MOST_OTHERS = 0.05  # of all processors' time
FIRST = "1"
KERNEL_THREADS = "2"  # the process that all of the kernel's threads are children of
TICKS = os.sysconf("SC_CLK_TCK")  # that /proc/stat counts in a second
ATTEMPTS = 20
PAUSE = 15  # seconds, in which the others may finish


class Disturbed(Exception):
    """The host gave the processors to others in every attempt."""


def stolen_share(before, after):
    """Between two first lines of /proc/stat: of the time for which processors were wanted."""
    spent = [int(b) - int(a) for a, b in zip(before.split()[1:], after.split()[1:])]
    user, nice, system, _, _, irq, softirq, steal = spent[:8]
    wanted = user + nice + system + irq + softirq + steal
    return steal / wanted if wanted else 0.0


def others_share(before, after, used_before, used_after):
    """Between two first lines of /proc/stat: of all processors' time, idle time included, what
    other programs used. `used_before` and `used_after` are used_by_others() then."""
    whole = sum(int(b) - int(a) for a, b in zip(before.split()[1:9], after.split()[1:9])) / TICKS
    used = sum(seconds - used_before.get(process, 0) for process, seconds in used_after.items())
    return max(0.0, used) / whole if whole else 0.0


def used_by_others():
    """By process, such as "42 (python)", the seconds of processors' time of it and of its children
    that have ended. Left out are this program with all that it started, the kernel's own threads,
    and the children of the first process: it inherits those that mpirun leaves behind."""
    parents, used = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                name, rest = file.read().rsplit(")", 1)
        except OSError:  # it has ended
            continue
        fields = rest.split()
        if fields[0] == "Z":  # it has ended too, and the first process has not noticed yet
            continue
        parents[process] = fields[1]
        times = fields[11:13] if process == FIRST else fields[11:15]
        used[process] = (name + ")", sum(map(int, times)) / TICKS)

    def is_other(process):
        while process in parents:
            if process in (KERNEL_THREADS, str(os.getpid())):
                return False
            process = parents[process]
        return True

    return {name: seconds for process, (name, seconds) in used.items() if is_other(process)}


def processors():
    with open("/proc/stat", encoding="ascii") as file:
        return file.readline()


def undisturbed(measure, look=processors, pause=time.sleep, others=None, attempts=ATTEMPTS,
                most_stolen=MOST_STOLEN):
    """What `measure` gives, of the first attempt that was not disturbed. With `others`, which is
    used_by_others, other programs count as a disturbance too."""
    for attempt in range(attempts):
        if attempt > 0:
            pause(PAUSE)
        before, used = look(), others() if others else {}
        result = measure()
        after = look()
        stolen = stolen_share(before, after)
        used_after = others() if others else {}
        taken = others_share(before, after, used, used_after)
        if stolen <= most_stolen and taken <= MOST_OTHERS:
            return result
        busiest = max(used_after, key=lambda each: used_after[each] - used.get(each, 0), default="")
        print(f"the host took {100 * stolen:.0f} % of the processors' time away, and other programs "
              f"{100 * taken:.0f} %" + (f", most of it process {busiest}" if taken > 0 else ""),
              file=sys.stderr, flush=True)
    raise Disturbed(f"processors were taken away in each of {attempts} attempts: nothing can be "
                    "measured on this machine now; run it again later")
