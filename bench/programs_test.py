"""bench/programs.py and bench/pipeline_cut.py, with small programs of the shell."""
import itertools
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
from hosts import Hosts
from pipeline_cut import cuts_of
from programs import Failed, Refused, answer_of, mpirun, on_core, reason_in, together


def shell(text):
    return ["sh", "-c", text]


class Together(unittest.TestCase):
    def run_all(self, *texts, seconds=60):
        return together([shell(text) for text in texts], dict(os.environ), seconds)

    def test_what_each_printed_comes_back_in_order(self):
        self.assertEqual(self.run_all("sleep 0.2; echo one", "echo two"), ["one\n", "two\n"])

    def test_one_that_fails_ends_the_others_and_its_message_is_told(self):
        with self.assertRaisesRegex(Failed, "the reason"):
            self.run_all("sleep 600", "echo the reason >&2; exit 3")

    def test_one_that_refuses_says_why(self):
        with self.assertRaisesRegex(Refused, "^no plan fits$"):
            self.run_all("echo 'pipedream: no plan fits' >&2; exit 78")

    def test_one_that_hangs_is_ended(self):
        with self.assertRaisesRegex(Failed, "time was up"):
            self.run_all("sleep 600", seconds=1)

    def test_a_program_that_does_not_exist_ends_those_that_run(self):
        with self.assertRaises(FileNotFoundError):
            together([shell("sleep 600"), ["/no/such/program"]], dict(os.environ), 60)


class Words(unittest.TestCase):
    def test_an_answer_is_a_whole_text_or_its_last_line(self):
        self.assertEqual(answer_of('{\n  "a": 1\n}\n'), {"a": 1})
        self.assertEqual(answer_of('[Gloo] connected\n{"a": 1}\n'), {"a": 1})

    def test_the_reason_is_our_programs_line_among_those_of_mpirun(self):
        self.assertEqual(reason_in("note\npipedream: no plan fits\n------\nPrimary job ended.\n------\n"),
                         "no plan fits")
        self.assertEqual(reason_in("Traceback:\n  ...\nValueError: 2 parts\n"), "ValueError: 2 parts")

    def test_a_rank_goes_to_the_core_of_its_number(self):
        core = sorted(os.sched_getaffinity(0))[0]
        if os.cpu_count() <= core:
            self.skipTest("cores are not numbered from 0")
        said = together([on_core(core, ["sh", "-c", "taskset -cp $$"])], dict(os.environ), 60)[0]
        self.assertRegex(said, rf"list: {core}$")

    def test_mpirun_fills_one_host_before_the_next(self):
        hosts = Hosts(3)
        hosts.agent = "/agent.sh"
        words = mpirun(hosts, 4, ["train"])
        self.assertEqual(words[words.index("--host") + 1],
                         ",".join(f"{address}:4" for address in hosts.addresses))
        self.assertEqual(words[words.index("-np") + 1], "12")
        self.assertEqual(words[-1], "train")


class CutsOf(unittest.TestCase):
    def longest(self, seconds, cuts):
        bounds = [0, *cuts, len(seconds)]
        return max(sum(seconds[a:b]) for a, b in itertools.pairwise(bounds))

    def test_the_longest_run_is_as_short_as_any_cut_can_make_it(self):
        numbers = random.Random(7)
        for _ in range(200):
            seconds = [numbers.randint(0, 9) for _ in range(numbers.randint(1, 8))]
            stages = numbers.randint(1, len(seconds))
            cuts = cuts_of(seconds, stages)
            self.assertEqual(len(cuts), stages - 1)
            best = min(self.longest(seconds, each)
                       for each in itertools.combinations(range(1, len(seconds)), stages - 1))
            self.assertEqual(self.longest(seconds, cuts), best)

    def test_more_stages_than_parts_are_refused(self):
        with self.assertRaisesRegex(ValueError, "2 parts cannot be cut into 3"):
            cuts_of([1, 2], 3)


unittest.main()
