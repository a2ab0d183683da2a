"""Measures only while the processors are this machine's own.

A host of several virtual machines takes processors from one for another, which Linux counts as
stolen time. Other programs of this machine take them too. What was measured meanwhile says nothing
about a program, and is measured again.
"""
import os
import resource
import sys
import time

MOST_STOLEN = 0.02  # of the time for which processors were wanted: less than runs differ anyway
MOST_OTHERS = 0.05  # of the time for which processors worked: the system's own work is part of it
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


def others_share(before, after, own_seconds):
    """Between two first lines of /proc/stat: of all processors' time, idle time included, what went
    to other programs than this one and those that it started and waited for. A kernel that counts
    by ticks is wrong about programs that work in short bursts, by a large part of the little that
    they work. So the share is not one of the time for which processors worked."""
    spent = [int(b) - int(a) for a, b in zip(before.split()[1:9], after.split()[1:9])]
    worked = sum(spent[:3]) / TICKS
    return max(0.0, worked - own_seconds) * TICKS / sum(spent) if sum(spent) else 0.0


def own_seconds():
    """Processors' time of this program, and of all that it started and waited for."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def processors():
    with open("/proc/stat", encoding="ascii") as file:
        return file.readline()


def undisturbed(measure, look=processors, pause=time.sleep, own=None, attempts=ATTEMPTS):
    """What `measure` gives, of the first attempt that was not disturbed. With `own`, which says how
    much of the processors' time was this program's, other programs count as a disturbance too."""
    for attempt in range(attempts):
        if attempt > 0:
            pause(PAUSE)
        before, own_before = look(), own() if own else 0
        result = measure()
        after = look()
        stolen = stolen_share(before, after)
        others = others_share(before, after, own() - own_before) if own else 0
        if stolen <= MOST_STOLEN and others <= MOST_OTHERS:
            return result
        print(f"the host took {100 * stolen:.0f} % of the processors' time away, and other programs "
              f"{100 * others:.0f} %", file=sys.stderr, flush=True)
    raise Disturbed(f"processors were taken away in each of {attempts} attempts: nothing can be "
                    "measured on this machine now; run it again later")
