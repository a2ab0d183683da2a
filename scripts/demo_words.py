"""Three lines about the demo: demo_words.py PIPELINE DATA_PARALLEL, both summary.json of a run."""
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    pipeline, parallel = (read(path) for path in sys.argv[1:])
    fast, slow = (run["samples_per_second"] for run in (pipeline, parallel))
    print(f"{pipeline['system']} {pipeline['config']} trained {pipeline['model']} at {fast:.1f} samples/s, and data "
          f"parallelism at {slow:.1f} on the same link: {fast / slow:.1f} times as fast")
    print(f"before it began, {pipeline['predicted_samples_per_second']:.1f} samples/s were predicted, and "
          f"{pipeline['simulated_samples_per_second']:.1f} simulated")
    print(f"it sent {pipeline['bytes_per_sample'] / 1e3:.0f} kB per sample, data parallelism "
          f"{parallel['bytes_per_sample'] / 1e3:.0f} kB, and {100 * pipeline['accuracy']:.0f} % of "
          "the held-out labels are right")


main()
