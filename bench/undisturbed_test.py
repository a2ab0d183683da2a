"""bench/undisturbed.py, with processors that a test makes up."""
import contextlib
import io
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from undisturbed import ATTEMPTS, TICKS, Disturbed, others_share, stolen_share, undisturbed, used_by_others


class Machine:
    """Whose host takes so much of each 100 ticks of wanted time."""

    def __init__(self, stolen):
        self.stolen = iter(stolen)
        self.user, self.steal, self.runs, self.pauses = 0, 0, 0, 0

    def run(self):
        taken = next(self.stolen)
        self.user += 100 - taken
        self.steal += taken
        self.runs += 1
        return self.runs

    def look(self):
        return f"cpu  {self.user} 0 0 {77 * self.runs} 5 0 0 {self.steal} 0 0\n"

    def pause(self, _):
        self.pauses += 1

    def measure(self):
        with contextlib.redirect_stderr(io.StringIO()):
            return undisturbed(self.run, self.look, self.pause)


class Undisturbed(unittest.TestCase):
    def test_the_share_is_of_wanted_time_and_idle_time_is_not_wanted(self):
        before = "cpu 100 10 20 1000 7 1 2 50 0 0"
        after = "cpu 160 20 30 9000 9 6 7 60 0 0"
        self.assertAlmostEqual(stolen_share(before, after), 10 / 100)
        self.assertEqual(stolen_share(before, before), 0)

    def test_what_was_not_disturbed_counts_at_once(self):
        machine = Machine([2])
        self.assertEqual(machine.measure(), 1)
        self.assertEqual(machine.pauses, 0)

    def test_what_was_disturbed_is_measured_again(self):
        machine = Machine([50, 3, 0])
        self.assertEqual(machine.measure(), 3)
        self.assertEqual(machine.pauses, 2)

    def test_a_noisier_machine_is_measured_where_that_is_wanted(self):
        machine = Machine([6, 5])
        self.assertEqual(undisturbed(machine.run, machine.look, machine.pause, most_stolen=0.05), 2)

    def test_it_ends_where_every_attempt_is_disturbed(self):
        machine = Machine([50] * (ATTEMPTS + 1))
        with self.assertRaisesRegex(Disturbed, "run it again later"):
            machine.measure()
        self.assertEqual(machine.runs, ATTEMPTS)

    def test_what_other_programs_took_is_a_share_of_all_processors_time(self):
        before, after = "cpu 0 0 0 0 0 0 0 0 0 0", f"cpu {6 * TICKS} 0 {2 * TICKS} {2 * TICKS} 0 0 0 0 0 0"
        self.assertAlmostEqual(others_share(before, after, {"7": 3}, {"7": 4, "9": 1}), 0.2)
        self.assertEqual(others_share(before, after, {"7": 3, "8": 5}, {"7": 3}), 0)
        self.assertEqual(others_share(before, before, {}, {}), 0)

    def test_other_programs_are_seen_and_this_one_with_its_children_is_not(self):
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as own:
            found = used_by_others()
            own.kill()
        processes = {name.split()[0] for name in found}
        self.assertIn("1", processes)
        self.assertIn(str(os.getppid()), processes)
        for process in ("2", str(os.getpid()), str(own.pid)):
            self.assertNotIn(process, processes)

    def test_other_programs_disturb_only_where_they_are_looked_at(self):
        machine = Machine([0, 0, 0])
        used = iter([0, 0.5, 0.5, 0.5])  # of the second that each run takes in all

        def measure(**more):
            with contextlib.redirect_stderr(io.StringIO()):
                return undisturbed(machine.run, lambda: f"cpu {machine.runs * TICKS} 0 0 0 0 0 0 0 0 0",
                                   machine.pause, **more)
        self.assertEqual(measure(), 1)
        self.assertEqual(measure(others=lambda: {"7": next(used)}), 3)


unittest.main()
