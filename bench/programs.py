"""Starts our program and PyTorch peers, on the hosts of hosts.py or without links, and reads what
they print. Each rank computes with one thread."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 900  # after which what was started counts as hanging
PORT = 29500


class Refused(Exception):
    """The program says that it cannot be done."""


class Failed(Exception):
    """A process ended with an error, or not at all."""


def environment(folder=None):
    """Of every process. OpenMPI's temporary files go into the folder, which goes with the hosts."""
    settings = dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0",
                    OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if folder:
        settings["TMPDIR"] = folder
    return settings


def on_core(number, command):
    """The command on that core; the number may be a variable of the shell that starts it."""
    return ["sh", "-c", f'exec taskset -c "$(( {number} % {os.cpu_count()} ))" "$@"', "sh", *command]


def together(commands, settings, seconds=SECONDS):
    """Runs the commands at the same time; what each printed to stdout. If one fails, or time is
    up, all are ended."""
    files = [(tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")) for _ in commands]
    running = []
    try:
        for command, (out, err) in zip(commands, files):
            running.append(subprocess.Popen(command, env=settings, stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err))
        wait_for(running, seconds)
        texts = [[text_of(file) for file in pair] for pair in files]
        # One that failed by itself says more than those that were ended for it.
        order = sorted(range(len(running)), key=lambda i: running[i].returncode == -signal.SIGKILL)
        for i in order:
            check(running[i].returncode, commands[i], texts[i][1])
        return [out for out, _ in texts]
    finally:
        for process in running:
            process.kill()  # nothing happens to one that has ended
            process.wait()
        for pair in files:
            for file in pair:
                file.close()


def reason_in(error):
    """Our program's own line, which mpirun follows with many; otherwise the last one."""
    lines = [line for line in error.splitlines() if line.strip("- \n")] or ["no reason was given"]
    ours = [line for line in lines if line.startswith("pipedream: ")]
    return (ours or lines)[-1].removeprefix("pipedream: ")


def check(code, command, error):
    if code == 78:
        raise Refused(reason_in(error))
    if code != 0:
        how = "was ended, because time was up or another one failed" if code == -signal.SIGKILL else f"ended with {code}"
        raise Failed(f"'{' '.join(command)}' {how}:\n{error}")


def wait_for(running, seconds):
    """Until all have ended well. The others of one that fails are killed, and so are all when time
    is up."""
    deadline = time.monotonic() + seconds
    while None in (codes := [process.poll() for process in running]):
        if any(codes) or time.monotonic() > deadline:
            time.sleep(1)  # in which the others can say what is wrong
            for process in running:
                process.kill()
        time.sleep(0.05)


def text_of(file):
    file.seek(0)
    return file.read()


def answer_of(text):
    """The JSON object of the whole text or, as gloo prints lines before it, of its last line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(text.strip().splitlines()[-1])


def mpirun(hosts, per_host, command, pin=False):
    """The command line that runs the command as a rank of MPI, that many times on each host."""
    if pin:
        command = on_core("OMPI_COMM_WORLD_RANK", command)
    settings = {"plm": "rsh", "plm_rsh_agent": hosts.agent, "plm_rsh_no_tree_spawn": "1",
                # What mpirun starts on the hosts stays its child, and ends with it.
                "orte_leave_session_attached": "1", "pml": "ob1", "btl": "self,vader,tcp",
                "btl_tcp_if_include": "eth0", "oob_tcp_if_include": "eth0"}
    words = [word for name, value in settings.items() for word in ("--mca", name, value)]
    places = ",".join(f"{address}:{per_host}" for address in hosts.addresses)
    return hosts.on(0, ["mpirun", *words, "--bind-to", "none", "--host", places, "-np",
                        str(per_host * len(hosts.names)), *command])


def on_hosts(hosts, commands, seconds):
    try:
        return answer_of(together(commands, environment(hosts.folder), seconds)[0])
    except BaseException:
        hosts.end_all_processes()
        raise


def train(hosts, per_host, words, pin=False, seconds=SECONDS):
    """What our program says, with these words and --json, as so many ranks on each host."""
    return on_hosts(hosts, [mpirun(hosts, per_host, [*words, "--json"], pin)], seconds)


def python(script, *words):
    return [sys.executable, os.path.join(HERE, script), *words]


def peers(hosts, per_host, script, words, pin=False, seconds=SECONDS):
    """What rank 0 of a script says, of which so many ranks run on each host."""
    world = per_host * len(hosts.names)
    commands = []
    for rank in range(world):
        command = python(script, "--rank", str(rank), "--world", str(world), "--master",
                         f"{hosts.addresses[0]}:{PORT}", *words)
        commands.append(hosts.on(rank // per_host, on_core(rank, command) if pin else command))
    return on_hosts(hosts, commands, seconds)


def alone(command, count, pin=False, seconds=SECONDS):
    """What each of so many processes says that run at the same time, without hosts."""
    commands = [on_core(number, command) if pin else command for number in range(count)]
    return [answer_of(text) for text in together(commands, environment(), seconds)]
