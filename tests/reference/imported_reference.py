"""What PyTorch computes: trains an example model of tools/export_examples.py in plain eager mode.

usage: imported_reference.py FOLDER NAME SAMPLES LEARNING_RATE ORDER

Writes the model to FOLDER/NAME.pt2 and its samples to FOLDER/NAME.safetensors. Then trains it with
SGD on minibatches whose samples ORDER lists (an int64 tensor `order`, one row each), in three ways:
  whole     half of the minibatches, each as it is
  cut       half of the minibatches, each cut into two microbatches whose gradients are added up
  replicas  all minibatches, of which two replicas each take one and average their gradients; each
            replica has its own running averages
Writes the weights and the losses of all minibatches to FOLDER/NAME.whole, .cut and .replicas.
Exit code 77: torch, torchvision or safetensors is not installed.
"""
import copy
import pathlib
import sys

try:
    import torch
    import torchvision  # noqa: F401, needed by the examples
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"the reference needs {missing.name}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import export_examples  # noqa: E402


def loss_of(model, loss, data, samples):
    inputs = [t[samples] for name, t in data.items() if name != "target"]
    output = model(*inputs)
    if loss == "language-model":
        return torch.nn.functional.cross_entropy(output[:, :-1].flatten(0, 1), inputs[0][:, 1:].flatten())
    target = data["target"][samples]
    if loss == "mse":
        return torch.nn.functional.mse_loss(output, target)
    return torch.nn.functional.cross_entropy(output, target)


def train(model, loss, data, order, microbatches, replicas, rate):
    copies = [model] + [copy.deepcopy(model) for _ in range(replicas - 1)]
    optimisers = [torch.optim.SGD(each.parameters(), lr=rate) for each in copies]
    losses = []
    for update in order.split(replicas):
        for each, samples in zip(copies, update):
            each.zero_grad()
            whole = 0.0
            for part in samples.chunk(microbatches):
                mean = loss_of(each, loss, data, part)
                (mean * (len(part) / len(samples))).backward()
                whole += mean.item() * len(part) / len(samples)
            losses.append(whole)
        for same in zip(*(each.parameters() for each in copies)):
            if replicas > 1 and same[0].grad is not None:
                mean = sum(parameter.grad for parameter in same) / replicas
                for parameter in same:
                    parameter.grad = mean.clone()
        for optimiser in optimisers:
            optimiser.step()
    return losses


def main(folder, name, samples, rate, order):
    torch.set_num_threads(1)
    rows = load_file(order)["order"]
    half = rows[: len(rows) // 2]
    for use, minibatches, microbatches, replicas in (
        ("whole", half, 1, 1), ("cut", half, 2, 1), ("replicas", rows, 1, 2)
    ):
        model, data, loss = export_examples.make(name, small=True, samples=int(samples))
        if use == "whole":
            export_examples.export(model, data, f"{folder}/{name}.pt2")
            save_file(data, f"{folder}/{name}.safetensors")
        losses = train(model, loss, data, minibatches, microbatches, replicas, float(rate))
        tensors = {n: t.detach().clone().contiguous() for n, t in model.state_dict().items()}
        save_file(tensors | {"losses": torch.tensor(losses, dtype=torch.float64)}, f"{folder}/{name}.{use}")


if __name__ == "__main__":
    main(*sys.argv[1:])
