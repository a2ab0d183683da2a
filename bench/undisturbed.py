"""Measures only while the processors are this machine's own.

A host of several virtual machines takes processors from one for another, which Linux counts as
stolen time. What was measured meanwhile says nothing about a program, and is measured again.
"""
import sys
import time

MOST_STOLEN = 0.02  # of the time for which processors were wanted: less than runs differ anyway
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


def processors():
    with open("/proc/stat", encoding="ascii") as file:
        return file.readline()


def undisturbed(measure, look=processors, pause=time.sleep):
    """What `measure` gives, of the first attempt that was not disturbed."""
    for attempt in range(ATTEMPTS):
        if attempt > 0:
            pause(PAUSE)
        before = look()
        result = measure()
        share = stolen_share(before, look())
        if share <= MOST_STOLEN:
            return result
        print(f"the host took {100 * share:.0f} % of the processors' time away",
              file=sys.stderr, flush=True)
    raise Disturbed(f"the host took processors away in each of {ATTEMPTS} attempts: nothing can be "
                    "measured on this machine now; run it again later")
