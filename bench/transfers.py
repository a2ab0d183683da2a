#!/usr/bin/env python3
"""What messages cost between processes on hosts with slow links.

1. A message of 64 MB both ways beside a matrix product, with all cores busy, against the longer of
   the two by itself.
2. An average of 100 MB over all workers, against the time that the links between the hosts must
   take for a ring of two levels.

The hosts are network namespaces of this machine (bench/hosts.py). Needs root, ip, tc and mpirun.
Exit code 1: a bar is not met.

usage: transfers.py PROGRAM [--hosts 4] [--workers-per-host 4] [--rates 200,1000] [--repetitions 5]
                    [--json]
"""
import argparse
import json
import os
import sys

from cluster_formulas import shape_for
from hosts import Hosts
from programs import Failed, mpirun, on_hosts

MOST_OVER_LONGER = 1.1
LEAST_SHARE_OF_BOUND = 0.9
SECONDS = 600


def measure(program, hosts, per_host, rate, repetitions):
    hosts.set_rate(rate)
    command = [program, "--rate", str(rate), "--repetitions", str(repetitions)]
    result = on_hosts(hosts, [mpirun(hosts, per_host, command)], SECONDS)
    result["met"] = (result["both_over_longer"] <= MOST_OVER_LONGER
                     and result["averaging_share_of_bound"] >= LEAST_SHARE_OF_BOUND)
    return {"mbit_per_second": rate, **result}


def report_of(results):
    lines = ["Mbit/s  workers  compute  transfer  both      both/longer  averaging  share of the bound"]
    for each in results:
        lines.append(f"{each['mbit_per_second']:6g}  {each['workers']:7}  {each['compute_seconds']:5.2f} s  "
                     f"{each['transfer_seconds']:6.2f} s  {each['both_seconds']:5.2f} s  "
                     f"{each['both_over_longer']:11.2f}  {each['averaging_seconds']:7.2f} s  "
                     f"{100 * each['averaging_share_of_bound']:16.0f} %")
    missed = [f"{each['mbit_per_second']:g} Mbit/s" for each in results if not each["met"]]
    lines.append(f"bars: both/longer at most {MOST_OVER_LONGER}, share at least {LEAST_SHARE_OF_BOUND:.0%}: "
                 + ("NOT met at " + ", ".join(missed) if missed else "met"))
    return "\n".join(lines) + "\n"


def main():
    hosts, per_host = shape_for(os.cpu_count())
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--hosts", type=int, default=hosts)
    parser.add_argument("--workers-per-host", type=int, default=per_host)
    parser.add_argument("--rates", type=lambda text: [float(rate) for rate in text.split(",")],
                        default=[200.0, 1000.0], help="Mbit/s")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = []
    try:
        with Hosts(args.hosts) as made:
            for rate in args.rates:
                results.append(measure(args.program, made, args.workers_per_host, rate,
                                       args.repetitions))
    except Failed as why:
        print(why, file=sys.stderr)
        return 1
    print(json.dumps({"benchmark": "transfers", "results": results}, indent=2) if args.json
          else report_of(results), end="\n" if args.json else "")
    return 0 if all(each["met"] for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
