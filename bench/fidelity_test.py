"""The parts of bench/fidelity.py that call no program."""
import contextlib
import io
import sys
import unittest

sys.dont_write_bytecode = True
import fidelity

SYSTEMS = [("whole", False), ("other whole", False), ("cut", True)]


def run(speed, busy=8.0, memory=(100, 200)):
    return fidelity.figures({
        "samples_per_second": speed, "busy": busy,
        "idle": {"fill_drain": 1.0, "imbalance": 0.5, "transfer": 0.25, "wait": 9.0 - busy - 0.75},
        "peak_memory_bytes": list(memory)})


def cell(simulated, *runs):
    return {"config": "1-1", "minibatches": 12,
            "pairs": [{"simulated": simulated, "measured": each} for each in runs]}


class Fidelity(unittest.TestCase):
    def test_cells_are_all_different_and_groups_stand_together(self):
        cells = fidelity.Grid(SYSTEMS, cores=2).cells()
        self.assertEqual(len(cells), 4 * 3 * (2 + 1 * 2))
        self.assertEqual(len({fidelity.name_of(c) for c in cells}), len(cells))
        groups = [c[:3] for c in cells]
        changes = sum(a != b for a, b in zip(groups, groups[1:]))
        self.assertEqual(changes + 1, len(set(groups)))

    def test_many_cores_have_as_many_workers_as_threads_and_as_processes(self):
        cells = fidelity.Grid(SYSTEMS, cores=16, models=["vgg16"]).cells()
        self.assertEqual({c[1] for c in cells}, {2, 4, 8, 16})
        self.assertEqual({c[2] for c in cells}, {"memory", "processes"})
        some = fidelity.Grid(SYSTEMS, cores=16, workers=[4], only=["vgg16", "processes", "M=8"])
        self.assertEqual([fidelity.name_of(c) for c in some.cells()],
                         ["vgg16 4 processes cut M=8"])

    def test_the_document_has_one_section_for_each_machine(self):
        document = "# Title\n\nText.\n\n## On 2 cores, a\n\nold\n"
        more = fidelity.document_with("## On 16 cores, b\n\nother\n", document)
        self.assertEqual(more, document + "\n## On 16 cores, b\n\nother\n")
        again = fidelity.document_with("## On 2 cores, a\n\nnew\n", more)
        self.assertEqual(again, more.replace("old", "new"))

    def test_a_run_is_as_long_as_wanted_within_limits(self):
        self.assertEqual(fidelity.minibatches_for(5, 0.25, "1"), 20)
        self.assertEqual(fidelity.minibatches_for(5, 0.24, "2"), 20)
        self.assertEqual(fidelity.minibatches_for(5, 10, "1-1"), fidelity.FEWEST)
        self.assertEqual(fidelity.minibatches_for(5, 10, "2-1"), 2 * fidelity.FEWEST)
        self.assertEqual(fidelity.minibatches_for(5, 1e-6, "2"), fidelity.MOST)

    def test_shares_are_of_all_time(self):
        shares = run(10)["shares"]
        self.assertAlmostEqual(sum(shares.values()), 1)
        self.assertAlmostEqual(shares["busy"], 8 / 10)

    def test_errors_are_the_medians_of_the_pairs(self):
        each = cell(run(110), run(90), run(100), run(130))
        self.assertAlmostEqual(fidelity.errors_of(each)["speed"], 0.10)
        self.assertAlmostEqual(fidelity.spread_of(each), 0.40)
        each["pairs"][0]["simulated"] = run(81)
        self.assertAlmostEqual(fidelity.errors_of(each)["speed"], -0.10)
        worse = cell(run(100, busy=7.0, memory=(90, 202)), run(100))
        self.assertAlmostEqual(fidelity.errors_of(worse)["time"], 0.1)
        self.assertAlmostEqual(fidelity.errors_of(worse)["memory"], -0.1)

    def test_bars_judge_steady_cells_alone(self):
        good = cell(run(103), run(100), run(101), run(100))
        noisy = cell(run(150), run(90), run(100), run(130))
        none = {"refused": "no"}
        summary = fidelity.summary_of({"good": good, "too": good, "noisy": noisy, "none": none})
        self.assertEqual((summary["cells"], summary["judged"], summary["refused"]), (4, 2, 1))
        self.assertTrue(summary["met"])
        self.assertFalse(fidelity.summary_of({"good": good, "noisy": noisy})["met"], "too few")
        bad = cell(run(111), run(100))
        summary = fidelity.summary_of({"good": good, "bad": bad})
        self.assertFalse(summary["met"])
        self.assertEqual(summary["speed"]["worst_cell"], "bad")
        self.assertFalse(fidelity.summary_of({"noisy": noisy})["met"])

    def test_the_document_says_how_often_cells_ran(self):
        cells = {"one": cell(run(103), run(100)), "two": cell(run(103), run(100), run(100)),
                 "none": {"refused": "no"}}
        self.assertEqual(fidelity.repetitions_of(cells), "1 or 2")

    def test_cells_are_finished_when_they_ran_often_enough(self):
        cells = {"planned": cell(run(103)), "begun": cell(run(103), run(100)),
                 "done": cell(run(103), run(100), run(100)), "none": {"refused": "no"}}
        self.assertEqual(set(fidelity.finished_of(cells, 2)), {"done", "none"})

    def test_the_report_lists_noisy_and_refused_cells_apart(self):
        cells = {"steady": cell(run(103), run(100)), "noisy": cell(run(103), run(90), run(100)),
                 "none": {"refused": "it cannot be cut"}}
        text = fidelity.report_of(cells, fidelity.summary_of(cells))
        self.assertIn("1 of 3 cells judged, 1 refused", text)
        steady, apart = text.split("Apart, ")
        self.assertIn("| steady | 1-1 | 12 | 103 | 100 | +3.0 % |", steady)
        self.assertNotIn("noisy", steady)
        self.assertIn("| noisy |", apart)
        self.assertIn("- none: it cannot be cut", apart)

    def test_what_another_program_measured_is_forgotten(self):
        bench = object.__new__(fidelity.Bench)
        bench.program = "new"
        cells = fidelity.Grid(SYSTEMS, cores=2).cells()
        names = [fidelity.name_of(each) for each in cells[:3]]
        bench.state = {"cells": {
            names[0]: {"pairs": [], "of": bench.identity(cells[0][0])},
            names[1]: {"pairs": [], "of": {**bench.identity(cells[1][0]), "program": "old"}},
            names[2]: {"pairs": [], "of": {**bench.identity(cells[2][0]), "sizes": []}}}}
        with contextlib.redirect_stderr(io.StringIO()) as said:
            bench.forget_others()
        self.assertEqual(list(bench.state["cells"]), names[:1])
        self.assertIn("2 cells", said.getvalue())


unittest.main()
