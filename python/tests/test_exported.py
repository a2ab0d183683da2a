"""Exported models compute and keep what they do in PyTorch."""

import copy
import math

import pytest
import torch
from safetensors.torch import save_file

import pipedream


class Written(torch.nn.Module):
    """Two linear layers; `between` changes the buffer `seen` between them."""

    def __init__(self, between):
        super().__init__()
        self.first, self.middle = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        self.last = torch.nn.Linear(4, 3)
        self.register_buffer("seen", torch.ones(4))
        self.between = between

    def forward(self, x):
        return self.last(self.between(self, self.middle(self.first(x).relu())))


def divides_by_an_average(net, h):
    with torch.no_grad():
        net.seen.mul_(0.5).add_(h.abs().mean(0), alpha=0.5)
    return h / net.seen


def keeps_the_mean(net, h):
    net.seen.copy_(h.detach().mean(0))
    return h


def keeps_the_mean_and_changes_it(net, h):
    mean = h.detach().mean(0)
    net.seen.copy_(mean)
    mean.add_(100)
    return h + 0 * mean


def replaces_the_buffer(net, h):
    net.seen = h.detach().mean(0) + 0.1 * net.seen
    return h


@pytest.fixture
def samples():
    return torch.randn(16, 4), torch.randint(0, 3, (16,))


@pytest.fixture
def steady():
    """One update by plain SGD."""
    return {"batch": 16, "epochs": 1, "held_out": 0, "optimiser": "sgd", "learning_rate": 0.1, "profile_seconds": 0.2,
            "progress": False}  # fmt: skip


def trained_by_torch(model, samples, microbatches):
    model = copy.deepcopy(model)
    inputs, classes = samples
    for x, y in zip(inputs.chunk(microbatches), classes.chunk(microbatches)):
        (torch.nn.functional.cross_entropy(model(x), y) / microbatches).backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
    return model.state_dict()


@pytest.mark.parametrize("recompute", [True, False])
@pytest.mark.parametrize(
    "between", [divides_by_an_average, keeps_the_mean, keeps_the_mean_and_changes_it, replaces_the_buffer]
)
def test_buffers_are_written_as_in_pytorch(between, recompute, samples, steady):
    model = Written(between)
    samples = samples[0][:1].repeat(16, 1), samples[1][:1].repeat(16)  # the same in any order
    wanted = trained_by_torch(model, samples, 4)
    options = {"system": "gpipe", "stages": 2, "microbatches": 4, "no_recompute": not recompute}
    pipedream.train(model, samples, workers=2, **steady, **options)
    for name, tensor in model.state_dict().items():
        assert torch.allclose(tensor, wanted[name], atol=1e-5), name


def test_a_stale_system_trains_a_model_that_divides_by_an_average_it_writes(samples, quick):
    # The backward of an item needs the average of its forward, which later items in flight have changed since.
    model = Written(divides_by_an_average)
    before = [tensor.clone() for tensor in model.parameters()]
    result = pipedream.train(model, samples, workers=2, system="pipedream", straight=True, held_out=0, **quick)
    assert all(math.isfinite(step.loss) for step in result.history)
    assert all(not torch.equal(now, old) for now, old in zip(model.parameters(), before))


def test_a_measurement_changes_no_buffer(samples):
    model = Written(divides_by_an_average)
    pipedream.profile(model, samples, batch=8, seconds=0.2, progress=False)
    assert torch.equal(model.seen, torch.ones(4))


def test_frozen_tensors_that_several_layers_use_are_loaded_in_all(tmp_path, samples, steady):
    class Frozen(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 3)
            self.shared = torch.nn.Parameter(torch.eye(4), requires_grad=False)

        def forward(self, x):
            return self.last((self.first(x) @ self.shared).relu() @ self.shared)

    weights = {name: 2 * tensor for name, tensor in Frozen().state_dict().items()}
    save_file(weights, tmp_path / "weights.safetensors")
    model = Frozen()
    model.load_state_dict(weights)
    wanted = torch.nn.functional.cross_entropy(model(samples[0]), samples[1])
    options = {"weights": tmp_path / "weights.safetensors", "system": "mp", "out": tmp_path / "out"}
    trained = Frozen()
    result = pipedream.train(trained, samples, workers=2, **steady, **options)
    assert result.history[0].loss == pytest.approx(wanted.item(), rel=1e-5)
    assert torch.equal(trained.shared, 2 * torch.eye(4))
    resumed = pipedream.resume(tmp_path / "out", trained, epochs=2)
    again = torch.nn.functional.cross_entropy(model(samples[0]), samples[1])
    assert resumed.history[1].loss < again.item()


def test_attention_with_dropout_takes_samples_that_are_padding_alone(steady):
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(8, 2, dropout=0.1, batch_first=True)
            self.last = torch.nn.Linear(8, 3)

        def forward(self, x, padding):
            seen, _ = self.attention(x, x, x, key_padding_mask=padding, need_weights=False)
            return self.last(seen.mean(1))

    padding = torch.zeros(16, 5, dtype=torch.bool)
    padding[::4] = True
    data = {"x": torch.randn(16, 5, 8), "padding": padding, "target": torch.randint(0, 3, (16,))}
    model = Attention()
    assert pipedream.train(model, data, workers=1, **steady).loss < 3
    assert all(tensor.isfinite().all() for tensor in model.state_dict().values())


@pytest.mark.parametrize("directions", [1, 2])
def test_final_states_of_an_lstm_have_their_shapes(directions, steady):
    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=directions == 2)
            self.last = torch.nn.Linear(5 * directions, 3)

        def forward(self, x):
            _, (hidden, _) = self.lstm(x)
            return self.last(torch.cat(tuple(hidden[-directions:]), dim=1))

    model = Classifier()
    samples = torch.randn(16, 7, 6), torch.randint(0, 3, (16,))
    wanted = trained_by_torch(model, samples, 1)
    pipedream.train(model, samples, workers=1, system="mp", **steady)
    for name, tensor in model.state_dict().items():
        assert torch.allclose(tensor, wanted[name], atol=1e-5), name


class Recommender(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = torch.nn.Embedding(5, 8), torch.nn.Embedding(100, 8)
        self.last = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.last(self.users(x[:, 0]) * self.items(x[:, 1]))


def test_columns_of_an_input_may_have_other_ranges(quick):
    pairs = torch.stack([torch.randint(0, 5, (64,)), torch.randint(0, 100, (64,))], 1)
    pairs[:, 1] = 99
    assert pipedream.train(Recommender(), (pairs, torch.randint(0, 3, (64,))), **quick).samples > 0


class Named(torch.nn.Module):
    """A model whose module, and perhaps an argument, is called `name`."""

    def __init__(self, name, module):
        super().__init__()
        self.name = name
        self.add_module(name, module)


class Input(Named):
    def forward(self, input):
        return getattr(self, self.name)(input)


@pytest.mark.parametrize("name", ["input", "loss", "target"])
def test_modules_may_have_the_names_of_inputs_and_losses(name, samples, quick):
    assert pipedream.train(Input(name, torch.nn.Linear(4, 3)), samples, **quick).samples > 0


class Changed(torch.nn.Module):
    """Returns what `function` makes of scores."""

    def __init__(self, function):
        super().__init__()
        self.function, self.last = function, torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.function(self.last(x))


class Target(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(4, 3)

    def forward(self, target):
        return self.last(target)


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(4, 3)

    def forward(self, loss):
        return self.last(loss)


class Unread(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(4, 7)

    def forward(self, x, words):
        return self.last(x)


@pytest.mark.parametrize(
    ("model", "data", "loss", "message"),
    [
        (Changed(torch.mean), (torch.randn(16, 4), torch.randn(16)), "mse", "the first dimension must count"),
        (Changed(torch.t), (torch.randn(16, 4), torch.randn(16, 3)), "mse", "the first dimension must count"),
        (Changed(lambda y: y.mean(0)), (torch.randn(16, 4), torch.randn(16)), "mse", "the first dimension must count"),
        (Changed(torch.t), (torch.randn(16, 4), torch.zeros(16).long()), "cross-entropy", "the first dimension must"),
        (Changed(torch.detach), (torch.randn(16, 4), torch.randn(16, 3)), "mse", "none of its trained parameters"),
        (Target(), (torch.randn(16, 4), torch.zeros(16).long()), "cross-entropy", "an argument 'target'"),
        (Loss(), (torch.randn(16, 4), torch.zeros(16).long()), "cross-entropy", "an argument 'loss'"),
        (
            Unread(),
            (torch.randn(16, 5, 4), torch.zeros(16, 5).long()),
            "language-model",
            "does not read its words",
        ),
        (
            torch.nn.Sequential(torch.nn.Embedding(7, 4), torch.nn.Linear(4, 7)),
            torch.zeros(16, 1).long(),
            "language-model",
            "at least two words",
        ),
    ],
)
def test_what_does_not_fit_the_loss_is_told(model, data, loss, message, quick):
    with pytest.raises(pipedream.CannotMeet, match=message):
        pipedream.train(model, data, loss=loss, **quick)
