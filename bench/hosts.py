"""Hosts of a cluster on one machine: network namespaces that a bridge joins, with shaped links.

tbf holds the link of each host to a rate, in both directions. Needs root, ip and tc of iproute2, and
nsenter and unshare of util-linux. A machine without ip and tc can use those of an unpacked package:
the environment variable PD_IPROUTE names the folder with both and with their libraries.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PREFIX = "pd-bench-"
SWITCH = PREFIX + "switch"
OURS = re.compile(re.escape(PREFIX) + r"(\d+|switch)")
NETWORK = "10.77.9."
FIRST_ADDRESS = 10  # of the numbers in the network; hosts count from here
MOST_HOSTS = 200
NAMESPACES = "/run/netns"
SHARED_MEMORY = "/dev/shm"

PAYLOAD_SHARE = 0.956  # of a link's rate that is left for what programs send
SMALLEST_BURST = 80_000  # bytes: holds one segment of the largest size that the kernel hands over
SMALLEST_QUEUE = 400_000  # bytes


def sizes_of(mbit):
    """Burst and queue of tbf, in bytes: 2 ms of the rate, so that a late timer costs nothing, and
    30 ms of it."""
    return max(SMALLEST_BURST, int(mbit * 250)), max(SMALLEST_QUEUE, int(mbit * 3750))


def bytes_in(statistics):
    """What tbf has sent, by the output of `tc -s -j qdisc show dev eth0`."""
    for queue in json.loads(statistics):
        if queue["kind"] == "tbf":
            return queue["bytes"]
    raise ValueError(f"no tbf in {statistics!r}")


class Tools:
    """ip and tc, of the system or of PD_IPROUTE."""

    def __init__(self, folder=None):
        self.environment = dict(os.environ)
        self.paths = {name: self.find(name, folder) for name in ("ip", "tc")}
        if folder:
            # Only ip and tc see this: what runs in a host has the caller's environment.
            self.environment["LD_LIBRARY_PATH"] = ":".join(self.libraries(folder))

    @staticmethod
    def find(name, folder):
        places = [folder, *(os.path.join(folder, *part.split("/"))
                            for part in ("bin", "sbin", "usr/bin", "usr/sbin"))] if folder else [
                                *os.environ.get("PATH", "").split(":"), "/usr/sbin", "/sbin"]
        path = shutil.which(name, path=":".join(places))
        if path is None:
            where = f"in {folder} (PD_IPROUTE)" if folder else "on this machine"
            sys.exit(f"found no program '{name}' {where}: install iproute2, or let PD_IPROUTE name a "
                     "folder with ip, tc and their libraries")
        return path

    @staticmethod
    def libraries(folder):
        return sorted({root for root, _, files in os.walk(folder)
                       if any(".so" in file for file in files)})

    def call(self, name, *words):
        done = subprocess.run([self.paths[name], *words], check=False, capture_output=True,
                              text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"'{name} {' '.join(words)}' failed: {done.stderr.strip()}")
        return done.stdout

    def ip(self, *words):
        return self.call("ip", *words)

    def tc(self, namespace, *words):
        # `ip netns exec` starts tc with this environment, so with its libraries.
        return self.call("ip", "netns", "exec", namespace, self.paths["tc"], *words)


@contextlib.contextmanager
def uninterrupted():
    """Ctrl-C and `kill` have no effect within the block."""
    before = {number: signal.signal(number, signal.SIG_IGN)
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Hosts:
    """Hosts 0, 1, …, as long as the block lasts. Then nothing of them is left: no process either.
    Also removes what an earlier run left behind that could not do so."""

    def __init__(self, count):
        if not 2 <= count <= MOST_HOSTS:
            sys.exit(f"wanted 2 to {MOST_HOSTS} hosts, found {count}")
        self.names = [f"{PREFIX}{host}" for host in range(count)]
        self.addresses = [f"{NETWORK}{FIRST_ADDRESS + host}" for host in range(count)]

    def __enter__(self):
        if os.geteuid() != 0:
            sys.exit("this benchmark makes network namespaces: run it as root")
        self.tools = Tools(os.environ.get("PD_IPROUTE"))
        self.only_one()
        self.folder = os.path.join(tempfile.gettempdir(), PREFIX + "hosts")
        # A plain `kill` of this process does what Ctrl-C does, also where Ctrl-C is ignored.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        try:
            self.remove()
            os.mkdir(self.folder, 0o700)
            self.make()
            self.write_agent()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with uninterrupted():
            self.remove()
            self.lock.close()

    def only_one(self):
        """The name of an abstract socket is taken as long as the process lives."""
        self.lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.lock.bind("\0" + PREFIX + "hosts")
        except OSError:
            sys.exit("another benchmark uses the hosts of this machine: wait until it has ended")

    def make(self):
        ip = self.tools.ip
        ip("netns", "add", SWITCH)
        ip("-n", SWITCH, "link", "add", "bridge", "type", "bridge")
        ip("-n", SWITCH, "link", "set", "bridge", "up")
        for host, (name, address) in enumerate(zip(self.names, self.addresses)):
            ip("netns", "add", name)
            ip("link", "add", f"port{host}", "netns", SWITCH, "type", "veth", "peer", "name", "eth0",
               "netns", name)
            ip("-n", SWITCH, "link", "set", f"port{host}", "master", "bridge", "up")
            ip("-n", name, "address", "add", address + "/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", name, "link", "set", device, "up")

    def links(self):
        """(namespace, device) of both directions of every link: from a host, and to it."""
        for host, name in enumerate(self.names):
            yield name, "eth0"
            yield SWITCH, f"port{host}"

    def set_rate(self, mbit):
        burst, queue = sizes_of(mbit)
        for namespace, device in self.links():
            self.tools.tc(namespace, "qdisc", "replace", "dev", device, "root", "tbf", "rate",
                          f"{round(mbit * 1000)}kbit", "burst", str(burst), "limit", str(queue))

    def sent_bytes(self):
        """What has left any host since the links are there, as tbf counts: whole Ethernet frames."""
        return sum(bytes_in(self.tools.tc(name, "-s", "-j", "qdisc", "show", "dev", "eth0"))
                   for name in self.names)

    def on(self, host, command):
        """The command in that host, with a host name of its own."""
        return ["nsenter", f"--net={NAMESPACES}/{self.names[host]}", "unshare", "--uts", "sh", "-c",
                'hostname "$0" && exec "$@"', self.names[host], *command]

    def write_agent(self):
        """What mpirun calls in place of ssh: [options] ADDRESS COMMAND."""
        self.agent = os.path.join(self.folder, "agent.sh")
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(f"""#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host={PREFIX}$(( ${{1##*.}} - {FIRST_ADDRESS} ))
shift
exec nsenter --net={NAMESPACES}/$host unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' $host "$*"
""")
        os.chmod(self.agent, 0o755)

    def end_processes(self, name):
        """Kills what runs in that namespace, and waits until it is gone."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            pids = self.tools.ip("netns", "pids", name).split()
            if not pids:
                return
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)
        print(f"processes in {name} do not end: {' '.join(pids)}", file=sys.stderr)

    def wait_for_end(self):
        """Waits until nothing runs on the hosts: mpirun ends before its daemons do."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if not any(self.tools.ip("netns", "pids", name).split() for name in self.names):
                return
            time.sleep(0.05)

    def end_all_processes(self):
        for name in self.names:
            self.end_processes(name)

    def remove(self):
        there = os.listdir(NAMESPACES) if os.path.isdir(NAMESPACES) else []
        for name in filter(OURS.fullmatch, there):
            if os.path.ismount(os.path.join(NAMESPACES, name)):
                self.end_processes(name)
            self.tools.ip("netns", "delete", name)
        remove_segments()
        shutil.rmtree(self.folder, ignore_errors=True)


def remove_segments():
    """Shared memory that OpenMPI's killed processes left: its names have the host's name."""
    for file in os.listdir(SHARED_MEMORY) if os.path.isdir(SHARED_MEMORY) else []:
        if PREFIX in file:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(SHARED_MEMORY, file))
