#!/usr/bin/env python3
"""Our systems and PyTorch's own tools side by side on hosts with slow links.

The hosts are network namespaces of this machine, whose links tbf holds to a rate in both directions.
Each network is profiled once; each system is planned for every link, and then trains several times,
by turns with the others. PyTorch's DistributedDataParallel and its pipeline (1F1B) train the same
networks on the same links, and one process per core without links says what the cores can give.
docs/cluster_bench.md explains what is printed. Needs root, iproute2 (or PD_IPROUTE), mpirun, and
python3 with torch.

Exit code 1: a bar is not met; 2: the machine was too disturbed to judge.
"""
import argparse
import json
import os
import sys
import time
from dataclasses import dataclass

from cluster_formulas import (
    ALONE,
    DATA_PARALLEL,
    DDP,
    EFFECTIVE_SHARE,
    NOMINAL,
    ONE_F_ONE_B,
    PEERS,
    TORCH_ALONE,
    Link,
    alone_speed,
    cluster_text,
    is_done,
    lengths,
    nominal_mbit,
    published_seconds,
    rate_for,
    rate_text,
    ring_mbit,
    shape_for,
)
from cluster_report import bars_of, exit_code_of, report_of
from fidelity import machine_of, say
from hosts import Hosts
from programs import Failed, Refused, alone, environment, peers, python, reason_in, together, train
from threads_seen import ThreadsSeen
from undisturbed import ATTEMPTS, MOST_STOLEN, Disturbed, undisturbed, used_by_others

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROFILE_SECONDS = 15
PEER_WARM_UP = 1


@dataclass(frozen=True)
class Model:
    options: tuple
    batch: int
    image: int = 0  # side of the images, for networks that peer_networks.py has
    published: tuple = ()  # the authors' profile of it, and the samples of its minibatch


TRANSLATION = ("--hidden", "512", "--vocabulary", "8000")
MODELS = {
    "vgg16": Model(("--image-size", "32", "--classes", "10"), 16, 32, ("vgg16", 128)),
    "alexnet": Model(("--image-size", "128", "--classes", "10"), 16, 128, ("alexnet", 256)),
    "gnmt8": Model(TRANSLATION, 8, published=("gnmt", 64)),
    "gnmt16": Model(TRANSLATION, 8),
    "resnet50": Model(("--image-size", "32", "--classes", "10"), 16, 32, ("resnet50", 128)),
    "awd-lm": Model(("--embedding", "200", "--hidden", "512", "--vocabulary", "8000", "--length", "35"), 8),
    "s2vt": Model(("--hidden", "500", "--embedding", "250", "--features", "1024", "--vocabulary", "4000",
                   "--frames", "20"), 8),
}
SWEEP = (50, 100, 200, 500, 1000, 2000)


class Bench:
    def __init__(self, args, hosts):
        self.args, self.hosts = args, hosts
        self.per_host = args.workers_per_host
        self.workers = args.hosts * args.workers_per_host
        listed = json.loads(self.call("systems", "--json"))["systems"]
        self.traits = {system["name"]: system for system in listed}
        wanted = args.systems or [*self.traits, "auto"]
        unknown = [system for system in wanted if system not in (*self.traits, "auto")]
        if unknown:
            sys.exit(f"--systems: wanted some of {', '.join(self.traits)}, auto; found {', '.join(unknown)}")
        self.systems = [system for system in wanted if system != "auto"]
        self.auto = "auto" in wanted
        self.profiles = {}
        self.effective = Link("effective", args.effective) if args.effective else None
        self.results = {"benchmark": "cluster", "hosts": args.hosts, "workers_per_host": self.per_host,
                        "machine": machine_of(args.program), "most_stolen": args.most_stolen,
                        "groups": [], "bars": []}

    # ---- our program without hosts -----------------------------------------------------------

    def call(self, *words):
        return together([[self.args.program, *words]], environment())[0]

    def file(self, name):
        return os.path.join(self.hosts.folder, name)

    def guarded(self, measure):
        def alone():
            result = measure()
            self.hosts.wait_for_end()
            return result
        return undisturbed(alone, others=used_by_others, attempts=self.args.attempts,
                           most_stolen=self.args.most_stolen)

    def profile(self, name):
        company = min(self.workers, os.cpu_count())
        say(f"profiling {name} in the company of {company}")
        model, file = MODELS[name], self.file(f"{name}.json")
        self.guarded(lambda: self.call(
            "profile", "--model", name, *model.options, "--batch", str(model.batch), "--workers",
            str(company), "--seconds", str(PROFILE_SECONDS), "-o", file))
        with open(file, encoding="utf-8") as profile:
            layers = [layer for layer in json.load(profile)["layers"] if not layer.get("input")]
        return {"file": file, "weight_bytes": sum(layer["weight_bytes"] for layer in layers),
                "seconds": sum(layer["forward"] + layer["backward"] for layer in layers)}

    def write_cluster(self, mbit):
        file = self.file(f"cluster-{mbit:.6g}.toml")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // self.workers
        with open(file, "w", encoding="utf-8") as out:
            out.write(cluster_text(self.args.hosts, self.per_host, mbit, memory))
        return file

    def plan(self, name, mbit, system):
        """What all runs of the system share. A row without runs."""
        file = self.file(f"plan-{name}-{mbit:.6g}-{system}.json")
        inputs = ["--profile", self.profiles[name]["file"], "--cluster", self.write_cluster(mbit)]
        try:
            self.call("plan", *inputs, "--system", system, "-o", file)
        except Refused as why:
            return {"system": system, "refused": str(why)}
        with open(file, encoding="utf-8") as text:
            plan = json.load(text)
        predicted, batch = plan["predicted"], MODELS[name].batch
        rate = 1 / predicted["simulated_seconds_per_minibatch"]
        short, long = lengths(self.args.seconds, rate, len(plan["stages"]),
                              plan["stages"][0]["replicas"], batch)
        cut = f" M={plan['microbatches']}" if plan["microbatches"] > 1 else ""
        return {"system": plan["system"], "plan": plan["config"] + cut, "runs": [],
                "predicted": predicted["samples_per_second"], "simulated": batch * rate,
                "counts": [short, long], "inputs": [*inputs, "--plan", file]}

    # ---- single runs -------------------------------------------------------------------------

    def timed(self, name, row, minibatches):
        """A run, with how long it took and what left the hosts meanwhile."""
        if row["system"] in (ALONE, TORCH_ALONE):
            run, sent = self.run_alone, None
        else:
            run = self.run_peer if row["system"] in PEERS else self.run_ours
            sent = self.hosts.sent_bytes()
        began = time.monotonic()
        result = run(name, row, minibatches)
        result["seconds"] = time.monotonic() - began
        result["wire_bytes"] = None if sent is None else self.hosts.sent_bytes() - sent
        return result

    def words(self, name, minibatches):
        model = MODELS[name]
        return [self.args.program, "train", "--model", name, *model.options, "--batch",
                str(model.batch), "--no-evaluation", "--minibatches", str(minibatches)]

    def run_ours(self, name, row, minibatches):
        words = [*self.words(name, minibatches), *row["inputs"]]
        if self.args.threads:
            with ThreadsSeen() as seen:
                answer = train(self.hosts, self.per_host, words, self.args.pin)
            row["threads"] = seen.used
        else:
            answer = train(self.hosts, self.per_host, words, self.args.pin)
        return {"samples_per_second": answer["samples_per_second"], "samples": answer["samples"],
                "busy": answer["utilisation"],
                "compute_over_simulated": answer["compute_over_simulated"]}

    def peer_words(self, name, minibatches):
        return ["--model", name, "--image-size", str(MODELS[name].image), "--minibatches",
                str(minibatches), "--warm-up", str(PEER_WARM_UP)]

    def run_peer(self, name, row, minibatches):
        batch = MODELS[name].batch
        script, size = {DDP: ("dp_peer.py", ["--batch", str(batch)]),
                        ONE_F_ONE_B: ("pipeline_peer.py", ["--microbatch", str(batch // 4)])}[row["system"]]
        answer = peers(self.hosts, self.per_host, script, [*self.peer_words(name, minibatches), *size],
                       self.args.pin)
        self.check_parameters(name, answer)
        return answer

    def check_parameters(self, name, answer):
        ours = self.profiles[name]["weight_bytes"] // 4
        if ours != answer["parameters"]:
            sys.exit(f"{name}: ours has {ours} parameters, PyTorch's {answer['parameters']}")

    def run_alone(self, name, row, minibatches):
        if row["system"] == ALONE:
            command = [*self.words(name, minibatches), "--workers", "1", "--system", "mp", "--profile",
                       self.profiles[name]["file"], "--json"]
        else:
            command = python("dp_peer.py", *self.peer_words(name, minibatches), "--batch",
                             str(MODELS[name].batch))
        answers = alone(command, self.workers, self.args.pin)
        return {"samples_per_second": sum(a["samples_per_second"] for a in answers),
                "samples": sum(a["samples"] for a in answers)}

    # ---- rows of a model on a link -----------------------------------------------------------

    def alone_rows(self, name):
        count = max(4, round(self.args.seconds / self.profiles[name]["seconds"]))
        names = [ALONE, TORCH_ALONE] if MODELS[name].image and self.args.peers else [ALONE]
        return [{"system": each, "runs": [], "counts": [None, count]} for each in names]

    def peer_rows(self, name):
        """How long they run follows from their first, short run."""
        wanted = self.args.peers if MODELS[name].image else []
        return [{"system": peer, "runs": [], "counts": [2, None]} for peer in wanted]

    def attempt(self, name, row, minibatches):
        """A run of the row, or None and the reason in the row."""
        try:
            return self.guarded(lambda: self.timed(name, row, minibatches))
        except Refused as why:
            row["refused"] = str(why)
        except Failed as why:
            row["refused"] = f"failed: {reason_in(str(why))}"
            say(f"{row['system']}: {why}")
        return None

    def begin(self, name, row):
        """The short run, which only says what a program sends at its start and end."""
        short, long = row["counts"]
        if short is None or "refused" in row:
            return
        say(f"  {row['system']}: short run")
        row["short"] = self.attempt(name, row, short)
        if long is None and row["short"]:
            steps = self.args.seconds * row["short"]["samples_per_second"] * (short + PEER_WARM_UP)
            row["counts"][1] = max(short + 1, round(steps / row["short"]["samples"]))

    def repeat(self, name, row):
        run = self.attempt(name, row, row["counts"][1])
        if run and run["samples_per_second"] is None:
            row["refused"] = f"{row['counts'][1]} minibatches are too few to measure a speed"
        elif run:
            row["runs"].append(run)
            say(f"  {row['system']}: {run['samples_per_second']:.4g} samples/s")

    def measure(self, name, link):
        """One group: a model on a link."""
        say(f"{name} on {rate_text(link.mbit)}")
        self.hosts.set_rate(link.mbit)
        ours = [self.plan(name, link.mbit, system) for system in self.systems]
        chosen = self.plan(name, link.mbit, "auto") if self.auto else None
        if chosen and chosen["system"] not in [row["system"] for row in ours]:
            ours.append(chosen)
        rows = ours + self.peer_rows(name) + self.alone_rows(name)
        group = {"model": name, "link": link.name, "mbit": link.mbit, "rows": rows,
                 "auto": chosen["system"] if chosen else None, "notes": []}
        if not MODELS[name].image:
            group["notes"].append("PyTorch has no peer of this network here")
        self.results["groups"].append(group)  # what there is can be shown if the rest cannot be had
        for row in rows:
            self.begin(name, row)
        for _ in range(self.args.repetitions):
            for row in rows:
                if not is_done(row, self.args.repetitions):
                    self.repeat(name, row)
        self.results["bars"] += bars_of(group, (self.args.hosts, self.per_host), self.traits)

    # ---- links -------------------------------------------------------------------------------

    def links_by_hand(self):
        return [Link(rate_text(rate), rate) for rate in self.args.rates]

    def nominal_links(self, name):
        """As fast for a worker as 10 and 25 Gbit/s were for a V100."""
        published = self.published_speed(name)
        if published is None:
            say(f"{name}: nominal links are left out, because its speed on a V100 was not published")
            return []
        speed = MODELS[name].batch / self.profiles[name]["seconds"]
        return [Link(f"nominal {gbit} Gbit/s", nominal_mbit(gbit, speed, published)) for gbit in NOMINAL]

    @staticmethod
    def published_speed(name):
        if not MODELS[name].published:
            return None
        profile, batch = MODELS[name].published
        data = os.environ.get("PD_SHARED_DATA", os.path.join(ROOT, "..", "shared", "data"))
        file = os.path.join(data, "profiles", profile + ".graph.txt")
        if not os.path.exists(file):
            sys.exit(f"nominal links need the layer profiles of PipeDream's authors: wanted {file}; "
                     "let PD_SHARED_DATA name the folder above 'profiles'")
        with open(file, encoding="utf-8") as text:
            return batch / published_seconds(text.read())

    def effective_link(self):
        """Where dp-bsp on VGG-16 reaches its share of what all cores give alone."""
        name = "vgg16"
        rows = self.alone_rows(name)
        for row in rows:
            for _ in range(self.args.repetitions):
                self.repeat(name, row)
        target = EFFECTIVE_SHARE * alone_speed({"rows": rows})
        say(f"looking for the link on which {DATA_PARALLEL} trains {target:.4g} samples/s")

        def speed_at(mbit):
            self.hosts.set_rate(mbit)
            row = self.plan(name, mbit, DATA_PARALLEL)
            speed = self.guarded(lambda: self.run_ours(name, row, row["counts"][1]))["samples_per_second"]
            say(f"  {rate_text(mbit)}: {speed:.4g} samples/s")
            return speed

        seconds = self.workers * MODELS[name].batch / target
        mbit = rate_for(speed_at, target,
                        ring_mbit(self.args.hosts, self.profiles[name]["weight_bytes"], seconds))
        if mbit is None:
            sys.exit(f"no link was found on which {DATA_PARALLEL} trains {target:.4g} samples/s")
        return Link("effective", mbit)

    def links_of(self, name):
        links = self.links_by_hand()
        if "nominal" in self.args.links:
            links += self.nominal_links(name)
        if self.effective:
            links.append(self.effective)
        if self.args.sweep and name == "vgg16":
            links += [Link(rate_text(rate), rate) for rate in SWEEP if rate not in self.args.rates]
        return links

    def measure_all(self):
        if "effective" in self.args.links and not self.effective:
            self.profiles["vgg16"] = self.profile("vgg16")
            self.effective = self.effective_link()
        for name in self.args.models:
            if name not in self.profiles:
                self.profiles[name] = self.profile(name)
            for link in self.links_of(name):
                self.measure(name, link)


def words_in(text):
    return [word for word in text.split(",") if word]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true",
                        help="VGG-16; dp-bsp, pipedream, DDP; 2 hosts of one worker; 100 Mbit/s")
    parser.add_argument("--hosts", type=int, help="default: as many as fit the cores, 2 or 4")
    parser.add_argument("--workers-per-host", type=int, help="default: as many as fit the cores")
    parser.add_argument("--models", type=words_in, default=list(MODELS), help=",".join(MODELS))
    parser.add_argument("--systems", type=words_in, help="default: all, and auto")
    parser.add_argument("--peers", type=words_in, default=list(PEERS), help="'PyTorch DDP,PyTorch 1F1B'")
    parser.add_argument("--rates", type=words_in, help="Mbit/s; default: 1000,200, with 2 workers 100")
    parser.add_argument("--links", type=words_in, default=[], help="nominal, effective")
    parser.add_argument("--effective", type=float, metavar="MBIT",
                        help="the effective link that an earlier run found, instead of --links effective")
    parser.add_argument("--sweep", action="store_true", help="VGG-16 also at many speeds")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=15, help="that a run should train")
    parser.add_argument("--attempts", type=int, help="of a run that is disturbed")
    parser.add_argument("--most-stolen", type=float, default=MOST_STOLEN, metavar="SHARE",
                        help="of the processors' time, that the host of a virtual machine may take "
                             "away from a run (%(default)s)")
    parser.add_argument("--threads", action="store_true",
                        help="also say how many cores each kind of thread of our systems uses")
    parser.add_argument("--pin", action="store_true", help="each process to a core of its own")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.models, args.systems, args.peers = ["vgg16"], [DATA_PARALLEL, "pipedream"], [DDP]
        args.hosts, args.workers_per_host, args.rates = 2, 1, ["100"]
    args.attempts = args.attempts or (3 if args.quick else ATTEMPTS)
    for given, known, flag in ((args.models, MODELS, "--models"), (args.peers, PEERS, "--peers"),
                               (args.links, ("nominal", "effective"), "--links")):
        unknown = [word for word in given if word not in known]
        if unknown:
            parser.error(f"{flag}: wanted some of {', '.join(known)}, found {', '.join(unknown)}")
    hosts, per_host = shape_for(os.cpu_count())
    args.hosts, args.workers_per_host = args.hosts or hosts, args.workers_per_host or per_host
    if args.rates is None:
        args.rates = [] if args.links or args.effective else ["100"] if args.hosts * args.workers_per_host <= 2 else ["1000", "200"]
    try:
        args.rates = [float(rate) for rate in args.rates]
    except ValueError as why:
        parser.error(f"--rates: wanted numbers of Mbit/s, {why}")
    return args


def measured(args):
    """The results, and the exit code that explains why they are not complete, or 0."""
    with Hosts(args.hosts) as hosts:
        bench = Bench(args, hosts)
        try:
            bench.measure_all()
        except Disturbed as why:
            say(str(why))
            return bench.results, 2
        except (Failed, Refused) as why:
            say(str(why))
            return bench.results, 1
        except KeyboardInterrupt:
            say("interrupted: what was measured until then follows")
            return bench.results, 130
    return bench.results, 0


def main():
    args = arguments()
    results, incomplete = measured(args)
    if args.json:
        print(json.dumps(results, indent=2))
    else:
        print(report_of(results), end="")
    judged = exit_code_of(results)
    return judged if judged == 1 else incomplete or judged


if __name__ == "__main__":
    sys.exit(main())
