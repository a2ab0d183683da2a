"""bench/cluster_formulas.py and bench/cluster_report.py, with runs that a test makes up."""
import sys
import unittest

import tomllib

sys.dont_write_bytecode = True
from cluster_formulas import (
    ALONE,
    DDP,
    TORCH_ALONE,
    alone_speed,
    cluster_text,
    is_done,
    lengths,
    nominal_mbit,
    published_seconds,
    rate_for,
    ratio_to,
    ring_mbit,
    row_called,
    shape_for,
    wire_bytes_of,
)
from cluster_report import TITLES, bars_of, exit_code_of, report_of, table_of


def run_of(speed, samples=100, wire=None, busy=None, seconds=10):
    return {"samples_per_second": speed, "samples": samples, "wire_bytes": wire, "busy": busy,
            "seconds": seconds}


def row_of(system, *speeds, **more):
    return {"system": system, "runs": [run_of(speed) for speed in speeds], **more}


def wired(system, speed, bytes_per_sample):
    """Programs send 5000 bytes at their start and end."""
    return {"system": system, "short": run_of(None, 50, 5000 + 50 * bytes_per_sample),
            "runs": [run_of(speed, 150, 5000 + 150 * bytes_per_sample, 0.5)]}


def group_of(*rows, model="vgg16", mbit=100, link="100 Mbit/s", auto=None):
    return {"model": model, "mbit": mbit, "link": link, "rows": list(rows), "auto": auto, "notes": []}


TRAITS = {"dp-bsp": {"automatic": True, "stale": False}, "dapple": {"automatic": True, "stale": False},
          "pipedream": {"automatic": True, "stale": True}}


class Formulas(unittest.TestCase):
    def test_as_many_workers_as_cores_on_four_hosts_or_two(self):
        self.assertEqual([shape_for(cores) for cores in (1, 2, 4, 8, 16, 32)],
                         [(2, 1), (2, 1), (2, 2), (4, 2), (4, 4), (4, 8)])

    def test_the_cluster_file_has_what_a_link_leaves_for_programs(self):
        file = tomllib.loads(cluster_text(4, 2, 200, 5 << 30))
        self.assertEqual([level["count"] for level in file["level"]], [2, 4])
        self.assertEqual(file["level"][1]["bandwidth"], "191.2Mbit/s")
        self.assertTrue(file["level"][1]["shared"])
        self.assertEqual(file["device"]["memory"], f"{5 << 30}B")

    def test_a_run_takes_about_so_long_and_every_replica_has_as_many_minibatches(self):
        self.assertEqual(lengths(10, 5, 2, 1, 16), (25, 50))
        short, long = lengths(10, 5, 3, 8, 16)
        self.assertEqual((short % 8, long % 8, long), (0, 0, 56))

    def test_a_slow_run_still_has_a_few_minibatches_and_a_fast_one_ends_with_the_data(self):
        self.assertEqual(lengths(10, 0.01, 1, 4, 16), (8, 16))
        self.assertEqual(lengths(10, 0.01, 5, 1, 16), (10, 20))
        self.assertEqual(lengths(10, 1000, 1, 1, 16)[1], 256)

    def test_the_published_time_leaves_out_what_reads_the_data(self):
        graph = ("node1 -- Input0 -- forward_compute_time=50.000, backward_compute_time=9.000, "
                 "activation_size=1.0, parameter_size=0.000\n"
                 "node2 -- Conv2d(3, 64, kernel_size=(3, 3)) -- forward_compute_time=22.250, "
                 "backward_compute_time=24.500, activation_size=8.0, parameter_size=7168.000\n"
                 "node3 -- ReLU -- forward_compute_time=1.000, backward_compute_time=2.250, "
                 "activation_size=[6.0; 1.0], parameter_size=0.000 -- stage_id=1\n"
                 "\tnode1 -- node2\n\tnode2 -- node3\n")
        self.assertAlmostEqual(published_seconds(graph), 0.050)

    def test_a_nominal_link_is_slower_by_as_much_as_the_worker(self):
        self.assertAlmostEqual(nominal_mbit(10, 20, 200), 1000)

    def test_a_ring_sends_nearly_twice_the_weights(self):
        self.assertAlmostEqual(ring_mbit(2, 1_000_000, 1) * 0.956, 8)
        self.assertAlmostEqual(ring_mbit(4, 1_000_000, 1) * 0.956, 12)


class RateFor(unittest.TestCase):
    def found(self, speed_at, target, first):
        self.asked = []

        def measure(rate):
            self.asked.append(rate)
            return speed_at(rate)
        return rate_for(measure, target, first)

    def test_it_is_found_where_speed_is_proportional(self):
        self.assertAlmostEqual(self.found(lambda rate: rate / 10, 30, 1000), 300)
        self.assertEqual(len(self.asked), 2)

    def test_it_is_found_where_speed_saturates(self):
        for first in (5, 300, 20_000):
            rate = self.found(lambda rate: 100 * rate / (rate + 400), 80, first)
            self.assertLess(len(self.asked), 8)
            self.assertAlmostEqual(100 * rate / (rate + 400), 80, delta=0.03 * 80)

    def test_there_is_none_for_a_speed_that_no_link_gives(self):
        self.assertIsNone(self.found(lambda rate: min(rate, 50), 80, 100))


class Rows(unittest.TestCase):
    def test_what_start_and_end_send_does_not_count(self):
        self.assertAlmostEqual(wire_bytes_of(wired("dp-bsp", 5, 700)), 700)

    def test_without_links_nothing_is_on_a_wire(self):
        self.assertIsNone(wire_bytes_of(row_of(ALONE, 5)))

    def test_alone_is_the_faster_of_the_programs(self):
        self.assertEqual(alone_speed(group_of(row_of(ALONE, 5, 7, 6), row_of(TORCH_ALONE, 8))), 8)
        self.assertEqual(alone_speed(group_of(row_of(ALONE, 5, 7, 6))), 6)
        self.assertIsNone(alone_speed(group_of(row_of("dp-bsp", 5))))

    def test_a_ratio_is_of_medians_and_is_none_without_the_other(self):
        group = group_of(row_of("pipedream", 9, 30, 10), row_of("dp-bsp", 5), {"system": DDP, "refused": "no"})
        self.assertEqual(ratio_to(group, row_called(group, "pipedream"), "dp-bsp"), 2)
        self.assertIsNone(ratio_to(group, row_called(group, "pipedream"), DDP))

    def test_slow_systems_run_twice(self):
        slow = {"runs": [run_of(1, seconds=90)]}
        self.assertFalse(is_done(slow, 3))
        slow["runs"].append(run_of(1, seconds=90))
        self.assertTrue(is_done(slow, 3))
        self.assertFalse(is_done(row_of("x", 1, 1), 3))
        self.assertTrue(is_done({"refused": "no"}, 3))


class Report(unittest.TestCase):
    def test_a_table_has_every_figure_in_its_column(self):
        group = group_of(wired("pipedream", 40, 70_000), wired("dp-bsp", 2.5, 8_800_000),
                         row_of(DDP, 2), row_of(ALONE, 50), auto="pipedream")
        group["rows"][0].update(plan="1-1", predicted=45, simulated=44)
        lines = table_of(group).splitlines()
        cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
        self.assertEqual(dict(zip(TITLES, cells)), {
            "system": "pipedream", "plan": "1-1", "samples/s": "40", "spread": "0.0 %",
            "× dp-bsp": "16.00", "× DDP": "20.00", "of alone": "80 %", "busy": "50 %",
            "kB/sample": "70", "predicted": "45", "simulated": "44"})
        self.assertEqual(lines[-1], "- auto takes pipedream")
        self.assertEqual(len({len(line) for line in lines[:-1]}), 1)

    def test_what_was_refused_is_named_below_with_its_reason(self):
        group = group_of(row_of("dp-bsp", 5), {"system": "gpipe", "refused": "no plan fits"})
        self.assertIn("- gpipe: no plan fits", table_of(group))

    def test_the_report_says_the_machine_and_the_verdicts(self):
        group = group_of(wired("pipedream", 44, 70), wired("dp-bsp", 2.5, 8800))
        group["rows"][0]["simulated"] = 45
        text = report_of({"hosts": 2, "workers_per_host": 1, "groups": [group],
                          "machine": {"cores": 2, "processor": "x", "torch": "2"}, "most_stolen": 0.02,
                          "bars": bars_of(group, (2, 1), TRAITS)})
        self.assertIn("2 hosts of 1; 2 cores (x), torch 2", text)
        self.assertIn("pipedream of its simulated speed: 0.978 (bar 0.97): met", text)
        self.assertIn("bytes that pipedream saves of dp-bsp's: 0.992 (bar 0.95): met", text)


class Bars(unittest.TestCase):
    def bars(self, group, shape=(2, 1)):
        return {each["what"].split(": ")[1]: each["met"] for each in bars_of(group, shape, TRAITS)}

    def test_a_bar_that_is_missed_is_not_met(self):
        group = group_of(row_of("pipedream", 40, simulated=45), row_of("dp-bsp", 5), row_of(DDP, 6))
        self.assertEqual(self.bars(group), {"dp-bsp over PyTorch DDP": False,
                                            "pipedream of its simulated speed": False})

    def test_what_is_too_unsteady_is_not_judged(self):
        group = group_of(row_of("pipedream", 30, 40, 50, simulated=40))
        self.assertEqual(self.bars(group), {"pipedream of its simulated speed": None})

    def test_bars_of_sixteen_workers_depend_on_the_link(self):
        rows = (row_of("pipedream", 380), row_of("dp-bsp", 97), row_of(DDP, 101), row_of(ALONE, 430))
        self.assertEqual(self.bars(group_of(*rows, mbit=1000, link="1000 Mbit/s"), (4, 4)), {
            "dp-bsp over PyTorch DDP": True, "pipedream of what all cores give alone": True,
            "pipedream over PyTorch DDP": True})
        self.assertEqual(self.bars(group_of(*rows, mbit=321, link="effective"), (4, 4)), {
            "dp-bsp over PyTorch DDP": True, "pipedream over dp-bsp": False})

    def test_auto_may_take_stale_weights_only_if_they_gain_enough(self):
        def met(chosen, pipedream):
            group = group_of(row_of("pipedream", pipedream), row_of("dapple", 100), row_of("dp-bsp", 50),
                             auto=chosen, model="awd-lm")
            return list(self.bars(group, (4, 4)).values())
        self.assertEqual(met("dapple", 120), [True])
        self.assertEqual(met("dapple", 130), [False])
        self.assertEqual(met("pipedream", 130), [True])
        self.assertEqual(met("dp-bsp", 90), [False])

    def test_the_exit_code_says_whether_bars_were_missed_or_could_not_be_judged(self):
        def code(*met, groups=()):
            return exit_code_of({"bars": [{"met": each} for each in met], "groups": list(groups)})
        self.assertEqual(code(True, True), 0)
        self.assertEqual(code(True, None), 2)
        self.assertEqual(code(False, None), 1)
        failed = group_of({"system": "dapple", "refused": "failed: worker 1 was lost"})
        self.assertEqual(code(True, groups=[failed]), 1)
        refused = group_of({"system": "dapple", "refused": "no plan fits"})
        self.assertEqual(code(True, groups=[refused]), 0)


unittest.main()
