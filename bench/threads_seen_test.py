"""bench/threads_seen.py, with a made-up /proc and made-up looks."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from threads_seen import cores_used, text_of, thread_times


class ThreadTimes(unittest.TestCase):
    def test_adds_up_the_threads_of_our_program_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            self.process(folder, "10", "pipedream", {"10": ("pipedream", "2000000000 500000000 7")})
            self.process(folder, "11", "pipedream", {"11": ("pipedream", "1000000000 0 7"),
                                                     "12": ("pd-sums", "3000000000 0 7")})
            self.process(folder, "13", "python3", {"13": ("python3", "9000000000 0 7")})
            os.makedirs(os.path.join(folder, "14"))  # has ended
            self.assertEqual(thread_times(folder), {"pipedream": [3.0, 0.5], "pd-sums": [3.0, 0.0]})

    def process(self, folder, number, name, threads):
        for thread, (thread_name, times) in threads.items():
            task = os.path.join(folder, number, "task", thread)
            os.makedirs(task)
            for file, text in (("comm", thread_name), ("schedstat", times)):
                with open(os.path.join(task, file), "w", encoding="ascii") as out:
                    out.write(text + "\n")
        with open(os.path.join(folder, number, "comm"), "w", encoding="ascii") as out:
            out.write(name + "\n")


class CoresUsed(unittest.TestCase):
    def test_counts_the_steady_part(self):
        looks = [(0.0, {})]
        for second in range(1, 101):  # starts for 50 seconds, then runs on two cores
            looks.append((float(second), {"pipedream": [max(0, second - 50) * 2.0, second * 0.25],
                                          "pd-news": [0.0, 0.0]}))
        self.assertEqual(cores_used(looks), {"pipedream": {"runs": 2.0, "waits": 0.25}})

    def test_leaves_out_names_of_which_a_thread_has_ended(self):
        looks = [(float(second), {"pd-sums": [100.0 - second, 0.0]}) for second in range(20)]
        self.assertEqual(cores_used(looks), {})

    def test_says_nothing_of_a_program_that_ends_at_once(self):
        self.assertEqual(cores_used([(0.0, {}), (0.5, {"pipedream": [1.0, 0.0]})]), {})

    def test_text_begins_with_the_busiest(self):
        self.assertEqual(text_of({"a": {"runs": 1, "waits": 0}, "b": {"runs": 2.5, "waits": 1}}),
                         "b 2.50 (waits for 1.00 more), a 1.00 (waits for 0.00 more)")


if __name__ == "__main__":
    unittest.main()
