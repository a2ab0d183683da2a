"""Which modules can be trained, and what is said about the others."""

import warnings

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import pipedream


class Packed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(2, 4, batch_first=True)

    def forward(self, x):
        lengths = torch.full((x.shape[0],), 3)
        packed = torch.nn.utils.rnn.pack_padded_sequence(x[:, None].expand(-1, 3, 2), lengths, batch_first=True)
        return torch.nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0][:, 0]


class Net(torch.nn.Module):
    """A network in whose middle a function computes something."""

    def __init__(self, middle):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(2, 16), torch.nn.BatchNorm1d(16)
        self.dropout, self.last = torch.nn.Dropout(0.5), torch.nn.Linear(16, 4)
        self.middle = middle

    def forward(self, x):
        return self.last(self.middle(self, self.dropout(self.norm(self.first(x)).relu())))


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def doubles_its_gradient(_, x):
    x.register_hook(lambda gradient: 2 * gradient)
    return x


def drops_rows(net, x):
    """Stochastic depth, as torchvision has it."""
    if not net.training:
        return x
    return x * torch.empty(x.shape[0], 1).bernoulli_(0.5).div_(0.5)


def without_warnings(model, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pipedream.train(model, data, **options)


@pytest.mark.parametrize(
    "middle",
    [
        lambda net, x: x,
        lambda net, x: checkpoint(torch.tanh, x, use_reentrant=False),
        lambda net, x: x + (x.round() - x).detach(),
        lambda net, x: x + torch.randn_like(x),
        drops_rows,
        lambda net, x: torch.nn.functional.alpha_dropout(x, 0.3, net.training),
        lambda net, x: torch.nn.functional.rrelu(x - 1, training=net.training),
        lambda net, x: torch.nn.functional.gumbel_softmax(x),
        lambda net, x: torch.empty_like(x).copy_(x),
        lambda net, x: torch.linalg.solve(x.mT @ x + torch.eye(16), x.mT).mT,
    ],
)
def test_what_is_trained_without_a_word(middle, points, quick):
    assert without_warnings(Net(middle), points, **quick).accuracy is not None


class Autoencoder(torch.nn.Module):
    """A variational autoencoder, whose loss takes only numbers from 0 to 1."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = torch.nn.Linear(16, 2 * 4), torch.nn.Linear(4, 16)

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        seen = self.decoder(mean + torch.randn_like(mean) * (0.5 * log_variance).exp())
        distance = torch.nn.functional.binary_cross_entropy(seen.sigmoid(), x, reduction="sum")
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
        return (distance + divergence) / x.shape[0]


def test_models_that_take_certain_numbers_are_measured_with_the_data(quick):
    shares = torch.rand(64, 16)
    result = without_warnings(Autoencoder(), shares, loss="none", system="gpipe", stages=2, **quick)
    assert result.loss < 20
    profile = pipedream.profile(Autoencoder(), shares, loss="none", batch=8, seconds=0.2, progress=False)
    assert profile.seconds > 0


def test_autocast_in_forward_is_kept(points, quick):
    class Mixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(2, 64), torch.nn.Linear(64, 4)

        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                hidden = self.first(x).relu()
            return self.last(hidden.float())

    model = Mixed()
    copy = Mixed()
    copy.load_state_dict(model.state_dict())
    features, target = points[0][:32], points[1][:32]
    options = quick | {"optimiser": "sgd", "learning_rate": 0.5, "batch": 32, "held_out": 0}
    without_warnings(model, (features, target), **(options | {"system": "mp", "epochs": 1}))
    torch.nn.functional.cross_entropy(copy(features), target).backward()
    for name, trained in model.named_parameters():
        expected = copy.get_parameter(name)
        expected = expected - 0.5 * expected.grad
        assert torch.allclose(trained, expected, rtol=1e-3, atol=1e-4), name


@pytest.mark.parametrize(
    ("middle", "message"),
    [
        (lambda net, x: Rounded.apply(x), "Rounded.apply, a torch.autograd.Function. torch.export drops its backward"),
        (lambda net, x: checkpoint(torch.tanh, x, use_reentrant=True), "use_reentrant=False"),
        (doubles_its_gradient, "Tensor.register_hook. torch.export drops the hook"),
        (lambda net, x: x if x.sum() > 0 else -x, "by the content of a tensor.*test_models.py:.*x.sum"),
        (lambda net, x: x * x.mean().item(), "aten::mul.Tensor with a number that forward computes, as .item"),
        (lambda net, x: x + x[x > 0].sum(), "the size 'u0' depends on the data .aten::index in the model itself"),
        (
            lambda net, x: x + torch.nn.functional.ctc_loss(x[None], x[:, :1].long(), *torch.ones(2, len(x)).long()),
            "what aten._ctc_loss.Tensor returns has a size that depends on the data .test_models.py:",
        ),
        (lambda net, x: x + torch.linalg.eigvals(x.T @ x).real.sum(), "linalg_eigvals"),
    ],
)
def test_what_cannot_be_exported_is_named(middle, message, points, quick):
    with pytest.raises(pipedream.CannotMeet, match=message):
        pipedream.train(Net(middle), points, **quick)


def test_packed_sequences_are_named(points, quick):
    with pytest.raises(pipedream.CannotMeet, match="packed sequences have sizes that depend on the data"):
        pipedream.train(Packed(), points, **quick)


def test_hooks_on_gradients_are_named(perceptron, points, quick):
    handle = perceptron[0].weight.register_hook(lambda gradient: 0 * gradient)
    with pytest.raises(pipedream.CannotMeet, match="the parameter '0.weight' has a hook"):
        pipedream.train(perceptron, points, **quick)
    handle.remove()
    perceptron[2].register_full_backward_hook(lambda *_: None)
    with pytest.raises(pipedream.CannotMeet, match="the module '2' has a backward hook"):
        pipedream.train(perceptron, points, **quick)


def test_code_for_training_alone_is_warned_of(points, quick):
    noisy = Net(lambda net, x: x + torch.randn_like(x) if net.training else x)
    with pytest.warns(UserWarning, match="if self.training") as caught:
        pipedream.train(noisy, points, **quick)
    assert caught[0].filename == __file__
    without_warnings(noisy, points, no_evaluation=True, **quick)
    without_warnings(noisy, points, held_out=0, **quick)
    assert noisy.training


def test_exporting_changes_nothing_in_the_model(points, quick):
    model = Net(lambda net, x: x)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    pipedream.profile(model, points, batch=8, seconds=0.2, progress=False)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), name


class Counting(torch.nn.Module):
    """Counts its calls in any mode, in two ways."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 4)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("replaced", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        self.replaced = self.replaced + 1
        return self.line(x)


def test_buffers_change_only_in_training(points, quick):
    model = Counting()
    pipedream.profile(model, points, batch=8, seconds=0.2, progress=False)
    assert (model.calls, model.replaced) == (0, 0)
    few = (points[0][:8], points[1][:8])
    pipedream.train(model, few, held_out=0, system="dp-bsp", **(quick | {"workers": 1}))
    assert (model.calls, model.replaced) == (1, 1)


def test_what_cannot_be_exported_at_all_is_named(perceptron, points, quick):
    with pytest.raises(pipedream.BadUsage, match="found one of TorchScript"):
        pipedream.train(torch.jit.trace(perceptron, points[0]), points, **quick)
    with pytest.raises(pipedream.BadUsage, match="'0.weight' is on the meta device"):
        pipedream.train(perceptron.to("meta"), points, **quick)


def test_a_model_that_does_not_run_is_named_as_in_pytorch(perceptron, points, quick):
    with pytest.raises(pipedream.BadUsage, match="first 2 samples of the data: mat1 and mat2 must have the same dtype"):
        pipedream.train(perceptron, (points[0].long(), points[1]), **quick)
    with pytest.raises(pipedream.BadUsage, match="samples of the data: mat1 and mat2 shapes"):
        pipedream.train(perceptron, (torch.randn(400, 3), points[1]), **quick)


def test_compiled_models_are_trained(perceptron, points, quick):
    before = perceptron[0].weight.clone()
    pipedream.train(torch.compile(perceptron), points, **quick)
    assert not torch.equal(perceptron[0].weight, before)


class Keywords(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 4)

    def forward(self, x, shift=None, *, scale, **others):
        scores = self.line(x) * scale
        return scores if shift is None else scores + shift


def test_arguments_by_keyword_are_inputs(points, quick):
    x, y = points
    scale = torch.ones(len(x), 1)
    result = without_warnings(Keywords(), {"target": y, "scale": scale, "x": x}, epochs=3, **quick)
    assert result.accuracy > 0.7
    with pytest.raises(pipedream.BadUsage, match="names of forward's arguments .x, shift=None, scale, ..others."):
        pipedream.train(Keywords(), {"target": y, "x": x}, **quick)


class Optional(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 4)

    def forward(self, x, shift=None, *more):
        for each in (() if shift is None else (shift,)) + more:
            x = x + each
        return self.line(x)


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_arguments_that_are_left_out_cost_nothing(inputs, points, quick):
    result = without_warnings(Optional(), (*[points[0]] * inputs, points[1]), **quick)
    assert result.minibatches == 45


class OwnLoss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 4)

    def forward(self, x, y):
        return torch.nn.functional.cross_entropy(self.line(x), y, label_smoothing=0.1)


def test_a_model_that_returns_its_loss_wants_no_other(points, quick):
    assert pipedream.train(OwnLoss(), points, loss="none", **quick).loss < 1.5
    with pytest.raises(pipedream.BadUsage, match="say loss='none'"):
        pipedream.train(OwnLoss(), points, **quick)
    with pytest.raises(pipedream.CannotMeet, match="at least two classes"):
        pipedream.train(torch.nn.Linear(2, 1), points, **quick)
