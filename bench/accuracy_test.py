"""The parts of bench/accuracy.py that call no program."""
import sys
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True
import accuracy
import accuracy_report as report

ACCURACY = {"name": "a", "figure": "accuracy", "target": 0.9}
PERPLEXITY = {"name": "p", "figure": "perplexity", "target": 10.0}


def measured(*curves, rate=0.1, speed=100.0):
    return {"rate": rate, "curves": list(curves), "speeds": {"memory": speed, "slow": speed / 4}}


class Report(unittest.TestCase):
    def test_the_target_is_reached_at_the_first_evaluation_that_is_as_good(self):
        self.assertEqual(report.samples_to_target(ACCURACY, [[10, 0.5], [20, 0.9], [30, 0.91]]), 20)
        self.assertEqual(report.samples_to_target(PERPLEXITY, [[10, 12], [20, 9]]), 20)
        self.assertIsNone(report.samples_to_target(PERPLEXITY, [[10, 12], [20, 11]]))

    def test_one_lucky_evaluation_does_not_reach_the_target(self):
        lucky = [[10, 0.95], [20, 0.5], [30, 0.6], [40, 0.7], [50, 0.91], [60, 0.92], [70, 0.93]]
        self.assertEqual(report.samples_to_target(ACCURACY, lucky), 50)

    def test_a_curve_is_settled_when_the_target_was_held(self):
        curve = [[10, 0.95], [20, 0.5], [30, 0.91], [40, 0.92], [50, 0.91], [60, 0.7], [70, 0.95]]
        settled = [report.is_settled(ACCURACY, curve[:count]) for count in range(1, 8)]
        self.assertEqual(settled, [False] * 4 + [True] * 3)
        self.assertEqual(report.samples_to_target(ACCURACY, curve[:5]),
                         report.samples_to_target(ACCURACY, curve))
        self.assertFalse(report.is_settled(ACCURACY, []))

    def test_the_best_rate_is_the_fastest_to_the_target(self):
        curves = {0.1: [[10, 0.5], [20, 0.91]], 1.0: [[10, 0.92]], 0.01: [[10, 0.3], [20, 0.4]]}
        self.assertEqual(report.best_rate(ACCURACY, curves), 1.0)
        far = {0.1: [[10, 40], [20, 30]], 1.0: [[10, 50], [20, 60]]}
        self.assertEqual(report.best_rate(PERPLEXITY, far), 0.1)

    def test_a_row_has_medians_and_needs_all_seeds(self):
        row = report.summary_of(ACCURACY, measured([[10, 0.95]], [[20, 0.95]], [[90, 0.95]]))
        self.assertEqual(row["samples"], 20)
        self.assertEqual(row["seconds"], {"memory": 0.2, "slow": 0.8})
        part = report.summary_of(ACCURACY, measured([[10, 0.95]], [[20, 0.5]]))
        self.assertIsNone(part["samples"])
        self.assertEqual(part["reached"], 1)

    def test_the_bar_compares_pipedream_with_plain_training(self):
        def rows(plain, stashing):
            return {"plain": {"samples": plain}, "pipedream": {"samples": stashing}}
        self.assertTrue(report.is_met(rows(100, 110)))
        self.assertFalse(report.is_met(rows(100, 111)))
        self.assertFalse(report.is_met(rows(100, None)))

    def test_the_table_says_what_did_not_reach_the_target(self):
        rows = {name: report.summary_of(ACCURACY, each) for name, each in {
            "plain": measured([[1000, 0.95]]), "dp-bsp": measured([[2000, 0.95]]),
            "dp-asp": measured([[2000, 0.95]], [[10, 0.2]])}.items()}
        table = report.table_of(ACCURACY, rows, ["memory", "slow"])
        self.assertIn("| plain | 0.1 | 1,000 | 0.50 | 95.0 % | 100 | 10 | 25 | 40 |", table)
        self.assertIn("| dp-asp | 0.1 | – (1 of 2 seeds) | – |", table)

    def test_a_picture_is_sound_xml_with_a_line_for_each_variant(self):
        svg = report.picture_of(PERPLEXITY, {f"<{i}>": measured([[10, 40], [20, 9]])
                                             for i in range(9)}, ["memory", "slow"])
        document = xml.dom.minidom.parseString(svg)
        lines = [path for path in document.getElementsByTagName("path")
                 if path.getAttribute("fill") == "none"]
        self.assertEqual(len(lines), 9 * 3)


class Commands(unittest.TestCase):
    def test_every_variant_trains_the_same_samples(self):
        for task in accuracy.TASKS:
            for words in accuracy.VARIANTS.values():
                line = accuracy.training_words(task, words, 0.1, 7, 2)
                self.assertEqual(line[line.index("--minibatches") + 1], str(task["minibatches"]))
                self.assertEqual(line[line.index("--seed") + 1], "7")

    def test_curves_are_read_from_metrics(self):
        lines = ('{"minibatch":0,"samples":16,"loss":2}\n'
                 '{"epoch":0,"samples":16,"held_out_loss":1.0,"accuracy":0.5,"perplexity":2.7}\n')
        self.assertEqual(accuracy.curve_in(lines, "accuracy"), [[16, 0.5]])
        self.assertEqual(accuracy.curve_in(lines, "perplexity"), [[16, 2.7]])


if __name__ == "__main__":
    unittest.main()
