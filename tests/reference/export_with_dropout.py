"""Exports small models with dropout: three of tools/export_examples.py, and a plain perceptron.

usage: export_with_dropout.py FOLDER

Exit code 77: torch or safetensors is not installed.
"""
import pathlib
import sys

try:
    import safetensors  # noqa: F401, needed by the examples
    import torch
    from torch import nn
except ImportError as missing:
    print(f"the test needs {missing.name}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import export_examples  # noqa: E402


def main(folder):
    for name in ("gpt", "lstm", "transformer"):
        model, data, _ = export_examples.make(name, small=True, samples=2)
        export_examples.set_dropout(model, 0.2)
        export_examples.export(model, data, f"{folder}/{name}.pt2")
    torch.manual_seed(1)
    perceptron = nn.Sequential(
        nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.4), nn.Linear(8, 8), nn.Dropout(0.25), nn.Linear(8, 5))
    export_examples.export(perceptron, {"x": torch.randn(2, 6)}, f"{folder}/perceptron.pt2")


if __name__ == "__main__":
    main(*sys.argv[1:])
