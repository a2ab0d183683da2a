#!/usr/bin/env python3
"""dp-bsp against PyTorch's DistributedDataParallel (gloo), on two hosts with a slow link.

The hosts are network namespaces of this machine, joined by a pair of virtual Ethernet devices that
tbf holds to the rate in both directions; each has one worker, pinned to a core of its own. Both
sides train the same network (as many parameters, checked) with SGD and one thread. They take turns,
and the median of the repetitions counts; what was measured while a virtual machine's host took its
processors away is measured again. Needs root, iproute2, mpirun, and python3 with torch.

Exit code 1: a bar is not met; 2: the host gave no time to measure in.

usage: dp.py PROGRAM [--rates 100,200,1000] [--models vgg16,mlp] [--repetitions 3] [--json]
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile

from undisturbed import Disturbed, undisturbed

HOSTS = ("pd-bench-0", "pd-bench-1")
ADDRESSES = ("10.77.9.1", "10.77.9.2")
HERE = os.path.dirname(os.path.abspath(__file__))
BAR = 0.95  # of DistributedDataParallel's speed

# What both sides train, and minibatches by the link's Mbit/s: enough to measure, soon enough done.
MODELS = {
    "vgg16": {"ours": ["--image-size", "32", "--classes", "10"], "theirs": [], "batch": 16,
              "minibatches": {100: 6, 200: 8, 1000: 16}},
    "mlp": {"ours": ["--hidden", "1800", "--layers", "5"],
            "theirs": ["--hidden", "1800", "--layers", "5"], "batch": 64,
            "minibatches": {100: 10, 200: 16, 1000: 40}},
}
RATES = tuple(MODELS["mlp"]["minibatches"])


def call(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Link:
    """Two hosts and the link between them, as long as the block lasts."""

    def __enter__(self):
        self.__exit__()
        try:
            for host in HOSTS:
                call("ip", "netns", "add", host)
            call("ip", "link", "add", "eth0", "netns", HOSTS[0], "type", "veth", "peer", "name",
                 "eth0", "netns", HOSTS[1])
            for host, address in zip(HOSTS, ADDRESSES):
                call("ip", "-n", host, "address", "add", address + "/24", "dev", "eth0")
                for device in ("lo", "eth0"):
                    call("ip", "-n", host, "link", "set", device, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in HOSTS:
            subprocess.run(["ip", "netns", "delete", host], stderr=subprocess.DEVNULL, check=False)

    @staticmethod
    def set_rate(mbit):
        # A burst holds one segment of the largest size and 2 ms of the rate.
        burst = max(80_000, mbit * 250)
        limit = max(400_000, mbit * 3750)
        for host in HOSTS:
            call("ip", "netns", "exec", host, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf",
                 "rate", f"{mbit}mbit", "burst", str(burst), "limit", str(limit))


def on_host(number, command):
    """The command in that host, with a host name of its own, on that core."""
    return ["ip", "netns", "exec", HOSTS[number], "unshare", "--uts", "sh", "-c",
            'hostname "$0" && exec "$@"', HOSTS[number], *command]


def environment():
    return dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0",
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def write_agent(folder):
    """What mpirun calls in place of ssh: [options] ADDRESS COMMAND."""
    agent = os.path.join(folder, "agent.sh")
    with open(agent, "w", encoding="utf-8") as file:
        file.write(f"""#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
shift
exec ip netns exec {HOSTS[1]} unshare --uts sh -c 'hostname {HOSTS[1]} && exec sh -c "$0"' "$*"
""")
    os.chmod(agent, 0o755)
    return agent


def run_ours(program, name, rate, folder, weights=None):
    model = MODELS[name]
    count = 2 * (model["minibatches"][rate] if weights is None else 1)
    train = [program, "train", "--model", name, *model["ours"], "--batch", str(model["batch"]),
             "--system", "dp-bsp", "--optimiser", "sgd", "--minibatches", str(count),
             "--no-evaluation", "--profile-seconds", "0.2", "--json"]
    if weights:
        train += ["--export", weights]
    pinned = ["sh", "-c", 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"', "sh", *train]
    command = on_host(0, ["mpirun", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent",
                          write_agent(folder), "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "btl",
                          "self,tcp", "--mca", "btl_tcp_if_include", "eth0", "--mca",
                          "oob_tcp_if_include", "eth0", "--bind-to", "none", "--host",
                          ",".join(address + ":1" for address in ADDRESSES), "-np", "2", *pinned])
    done = subprocess.run(command, env=environment(), check=False, capture_output=True, text=True,
                          timeout=600)
    if done.returncode != 0:
        sys.exit(f"pipedream failed:\n{done.stderr}")
    return json.loads(done.stdout)["samples_per_second"]


def run_theirs(name, rate):
    model = MODELS[name]
    ranks = []
    for rank in range(2):
        command = ["taskset", "-c", str(rank), sys.executable, os.path.join(HERE, "dp_peer.py"),
                   "--model", name, *model["theirs"], "--rank", str(rank), "--world", "2",
                   "--master", f"{ADDRESSES[0]}:29500", "--batch", str(model["batch"]),
                   "--minibatches", str(model["minibatches"][rate])]
        ranks.append(subprocess.Popen(on_host(rank, command), env=environment(), text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    try:
        outputs = [rank.communicate(timeout=600) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()  # nothing happens to one that has ended
    for rank, output in zip(ranks, outputs):
        if rank.returncode != 0:
            sys.exit(f"PyTorch failed:\n{output[1]}")
    return json.loads(outputs[0][0].splitlines()[-1])  # gloo prints lines of its own


def parameters_in(file):
    """Of a safetensors file."""
    with open(file, "rb") as weights:
        header = json.loads(weights.read(struct.unpack("<Q", weights.read(8))[0]))
    counts = []
    for name, tensor in header.items():
        if name != "__metadata__":
            count = 1
            for size in tensor["shape"]:
                count *= size
            counts.append(count)
    return sum(counts)


def measure(program, name, rate, repetitions, folder):
    ours, theirs = [], []
    for _ in range(repetitions):
        ours.append(undisturbed(lambda: run_ours(program, name, rate, folder)))
        theirs.append(undisturbed(lambda: run_theirs(name, rate))["samples_per_second"])
        print(f"{name} at {rate} Mbit/s: {ours[-1]:.1f} and {theirs[-1]:.1f} samples/s",
              file=sys.stderr)
    ratio = statistics.median(ours) / statistics.median(theirs)
    return {"model": name, "mbit_per_second": rate, "ours": statistics.median(ours),
            "theirs": statistics.median(theirs), "runs": {"ours": ours, "theirs": theirs},
            "ratio": ratio, "met": ratio >= BAR}


def check_same(program, name, folder):
    weights = os.path.join(folder, "weights.safetensors")
    run_ours(program, name, 1000, folder, weights)
    ours, theirs = parameters_in(weights), run_theirs(name, 1000)["parameters"]
    if ours != theirs:
        sys.exit(f"{name}: ours has {ours} parameters, theirs {theirs}")


def measure_all(args, results):
    """Adds to the results one by one, so that they are there if the next cannot be had."""
    with Link() as link, tempfile.TemporaryDirectory() as folder:
        for name in args.models.split(","):
            link.set_rate(1000)
            check_same(args.program, name, folder)
            for rate in map(int, args.rates.split(",")):
                link.set_rate(rate)
                results.append(measure(args.program, name, rate, args.repetitions, folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--rates", default=",".join(map(str, RATES)), help="Mbit/s")
    parser.add_argument("--models", default="vgg16,mlp")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    unknown = set(args.rates.split(",")) - {str(rate) for rate in RATES}
    if unknown:
        parser.error(f"--rates: wanted some of {RATES}, found {sorted(unknown)}")
    if os.geteuid() != 0:
        sys.exit("bench dp makes network namespaces: run it as root")
    results = []
    disturbed = None
    try:
        measure_all(args, results)
    except Disturbed as why:
        disturbed = str(why)
    show(results, args.json)
    if disturbed:
        print(disturbed, file=sys.stderr)
        return 2
    return 0 if all(each["met"] for each in results) else 1


def show(results, as_json):
    if as_json:
        print(json.dumps({"benchmark": "dp", "bar": BAR, "results": results}, indent=2))
        return
    print("model     Mbit/s  pipedream dp-bsp  PyTorch DDP  ratio   (samples/s, medians)")
    for each in results:
        print(f"{each['model']:8} {each['mbit_per_second']:7}  {each['ours']:16.1f}  "
              f"{each['theirs']:11.1f}  {each['ratio']:5.3f}")
    if not results:
        return
    missed = [f"{each['model']} at {each['mbit_per_second']} Mbit/s" for each in results
              if not each["met"]]
    print(f"bar {BAR}: " + ("NOT met: " + ", ".join(missed) if missed else "all met"))


sys.exit(main())
