"""The arithmetic of bench/cluster.py: shapes of clusters, lengths of runs, speeds of links, and what
follows from runs. No program is called here. docs/cluster_bench.md explains the figures.

A row is what was measured of one system on one model and link:
    {"system", "plan", "predicted", "simulated", "short": run, "runs": [run, …]} or {"system", "refused"}
    run: {"samples_per_second", "samples", "wire_bytes", "busy"}
"""
import math
import re
import statistics
from dataclasses import dataclass

from hosts import PAYLOAD_SHARE

ALONE, TORCH_ALONE = "alone", "PyTorch alone"
DDP, ONE_F_ONE_B = "PyTorch DDP", "PyTorch 1F1B"
PEERS = (DDP, ONE_F_ONE_B)
DATA_PARALLEL = "dp-bsp"

EPOCH = 4096  # samples of the synthetic data: a longer run would drain its pipeline in between
FEWEST = 4  # minibatches for each replica of the first stage, and for each stage
NOMINAL = (10, 25)  # Gbit/s, the cards of the paper's clusters
EFFECTIVE_SHARE = 0.16  # of what all cores give alone: leaves room for the paper's 5.28 ×
EFFECTIVE_TOLERANCE = 0.03
EFFECTIVE_STEPS = 10
SLOW_RUN = 45  # seconds, from which on two runs are enough


@dataclass(frozen=True)
class Link:
    name: str
    mbit: float


def rate_text(mbit):
    return f"{mbit:.0f} Mbit/s" if mbit >= 100 else f"{mbit:.3g} Mbit/s"


def shape_for(cores):
    """(hosts, workers of each) for so many cores."""
    hosts = 4 if cores >= 8 else 2
    return hosts, max(1, cores // hosts)


def cluster_text(hosts, per_host, mbit, memory):
    """The cluster file of the hosts: workers of a host share its link, and what programs send is
    less than the link's rate."""
    return f"""format = "pipedream-cluster"
version = 1
name = "{hosts} hosts of {per_host}"

[[level]]
name = "host"
count = {per_host}
bandwidth = "10GB/s"
latency = "5us"

[[level]]
name = "network"
count = {hosts}
bandwidth = "{mbit * PAYLOAD_SHARE:.6g}Mbit/s"
latency = "50us"
shared = true

[device]
memory = "{memory}B"
"""


def lengths(seconds, minibatches_per_second, stages, replicas, batch):
    """Minibatches of a short and of a long run; every replica of the first stage has as many. The
    long one takes about so long."""
    def rounded(count):
        return math.ceil(count / replicas) * replicas
    fewest = FEWEST * max(replicas, stages)
    most = max(fewest, EPOCH // batch)
    long = rounded(min(most, max(fewest, seconds * minibatches_per_second)))
    return rounded(long / 2), long


def published_seconds(graph):
    """Seconds for which a V100 computed one minibatch, by a profile in PipeDream's graph text."""
    total = 0.0
    for line in graph.splitlines():
        times = re.search(r"forward_compute_time=([\d.]+), backward_compute_time=([\d.]+)", line)
        if times and not re.match(r"\S+ -- Input", line):
            total += float(times[1]) + float(times[2])
    return total / 1000


def nominal_mbit(gbit, worker_samples_per_second, v100_samples_per_second):
    """The link that is as fast for a worker as the card was for a V100."""
    return gbit * 1000 * worker_samples_per_second / v100_samples_per_second


def ring_mbit(hosts, weight_bytes, seconds):
    """The rate at which a ring over the hosts averages the weights' gradients within that time."""
    return 2 * (hosts - 1) / hosts * weight_bytes * 8e-6 / seconds / PAYLOAD_SHARE


def rate_for(measure, target, first):
    """The rate at which `measure` gives the target, within the tolerance; None if there was none.
    Steps become longer until the rate lies between two that were tried, and are then halved."""
    low, high, rate = 0.0, math.inf, first
    for step in range(EFFECTIVE_STEPS):
        found = measure(rate)
        if abs(found / target - 1) <= EFFECTIVE_TOLERANCE:
            return rate
        low, high = (rate, high) if found < target else (low, rate)
        if low > 0 and high < math.inf:
            rate = math.sqrt(low * high)
        else:
            rate *= min(8, max(1 / 8, (target / found) ** 2**step))
    return None


# ---- what follows from runs ------------------------------------------------------------------

def is_measured(row):
    return bool(row and row.get("runs"))


def speed_of(row):
    return statistics.median(run["samples_per_second"] for run in row["runs"])


def spread_of(row):
    """Of the runs: the fastest less the slowest, over the median."""
    speeds = [run["samples_per_second"] for run in row["runs"]]
    return (max(speeds) - min(speeds)) / statistics.median(speeds)


def wire_bytes_of(row):
    """For each sample: what a long run sent more than the short one, so that start and end of the
    programs do not count. None without links."""
    short = row.get("short")
    if not short or short.get("wire_bytes") is None:
        return None
    return statistics.median((run["wire_bytes"] - short["wire_bytes"]) /
                             (run["samples"] - short["samples"]) for run in row["runs"])


def busy_of(row):
    shares = [run["busy"] for run in row["runs"] if run.get("busy") is not None]
    return statistics.median(shares) if shares else None


def row_called(group, system):
    return next((row for row in group["rows"] if row["system"] == system), None)


def ratio_to(group, row, other):
    """The row's speed over that of another row of the group; None if it was not measured."""
    other = row_called(group, other)
    return speed_of(row) / speed_of(other) if is_measured(other) else None


def alone_speed(group):
    """What all cores give without links: the faster of our program and PyTorch."""
    rows = [row_called(group, name) for name in (ALONE, TORCH_ALONE)]
    return max((speed_of(row) for row in rows if is_measured(row)), default=None)


def is_done(row, repetitions):
    """A slow system runs twice, others as often as wanted."""
    if "refused" in row or len(row["runs"]) >= repetitions:
        return True
    return len(row["runs"]) >= 2 and row["runs"][-1]["seconds"] > SLOW_RUN
