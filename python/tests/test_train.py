import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy
import pytest
import torch
from safetensors.torch import load_file
from torch.utils.data import DataLoader, Dataset, TensorDataset

import pipedream


def accuracy(model, x, y):
    with torch.no_grad():
        return (model.eval()(x).argmax(1) == y).float().mean().item()


def test_trains_and_loads_the_weights_back(perceptron, points, quick):
    result = pipedream.train(perceptron, points, epochs=6, **quick)
    assert perceptron.training
    assert accuracy(perceptron, *points) > 0.9
    assert result.minibatches == 6 * 45  # a tenth of 400 samples is held out
    assert result.accuracy > 0.8
    assert [each.epoch for each in result.evaluations] == [1, 2, 3, 4, 5, 6]
    assert len(result.history) == result.minibatches
    assert result.history[-1].samples == 6 * 360
    assert result.history[0].loss > result.history[-1].loss
    assert result.plan.json["workers"] == 2
    assert result.samples_per_second > 0
    assert "<svg" in result.timeline_svg
    assert result.folder is None


def test_tensorboard_reads_its_curves(perceptron, points, quick, tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    result = pipedream.train(perceptron, points, epochs=2, tensorboard=str(tmp_path), **quick)
    curves = events.EventAccumulator(str(tmp_path))
    curves.Reload()
    losses = curves.Scalars("loss/train")
    assert [each.step for each in losses] == list(range(1, result.minibatches + 1))
    assert losses[-1].value == pytest.approx(result.history[-1].loss)
    assert [each.step for each in curves.Scalars("accuracy")] == [45, 90]
    assert curves.Scalars("accuracy")[-1].value == pytest.approx(result.accuracy)


class Named(torch.nn.Module):
    """Two inputs that differ."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(10, 8)
        self.out = torch.nn.Linear(8 + 3, 4)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, word, feature):
        if self.training:
            self.seen += 1
        return self.out(torch.cat([self.words(word), feature], dim=1))


class Pairs(Dataset):
    def __init__(self, word, feature, target, names):
        self.samples = (word, feature, target)
        self.names = names

    def __len__(self):
        return len(self.samples[0])

    def __getitem__(self, i):
        word, feature, target = (each[i] for each in self.samples)
        sample = (int(word), feature.numpy(), target)  # a number, an array and a tensor
        return dict(zip(self.names, sample)) if self.names else sample


def named_data():
    word = torch.randint(10, (64,))
    return word, torch.randn(64, 3), word % 4


def test_data_of_all_kinds_gives_the_same_training(quick):
    word, feature, target = named_data()
    names = ("word", "feature", "target")
    kinds = [
        (word, feature, target),
        [word.numpy(), feature.numpy(), target.numpy()],
        {"target": target, "feature": feature, "word": word},
        TensorDataset(word, feature, target),
        Pairs(word, feature, target, None),
        Pairs(word, feature, target, names),
    ]
    trained = []
    for data in kinds:
        torch.manual_seed(2)
        model = Named()
        pipedream.train(model, data, system="dp-bsp", **quick)
        trained.append(model.state_dict())
    assert trained[0]["seen"] > 0
    for other in trained[1:]:
        for name, tensor in trained[0].items():
            assert torch.equal(tensor, other[name]), name


class Counting(torch.nn.Module):
    """A buffer that training changes and that is no part of the state dict."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 4)
        self.unused = torch.nn.Linear(2, 2)
        self.tied = self.line
        self.register_buffer("seen", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.seen += 1
        return self.line(x)


def test_the_state_dict_comes_back_whole(points, quick):
    model = Counting()
    before = {name: each.clone() for name, each in model.state_dict().items()}
    pipedream.train(model, points, **quick)
    assert set(model.state_dict()) == set(before)
    assert not torch.equal(model.state_dict()["tied.weight"], before["line.weight"])
    assert torch.equal(model.state_dict()["unused.weight"], before["unused.weight"])


def test_a_memory_mapped_array_is_data(tmp_path, perceptron, quick):
    file = numpy.lib.format.open_memmap(tmp_path / "x.npy", "w+", numpy.float64, (300, 2))
    file[:] = numpy.random.default_rng(1).normal(size=(300, 2))
    y = (file[:, 0] > 0).astype(numpy.int64)
    pipedream.train(perceptron, (file, y), epochs=4, **quick)
    assert accuracy(perceptron, torch.from_numpy(numpy.array(file, numpy.float32)), torch.from_numpy(y)) > 0.9


def test_losses(quick):
    slow = quick | {"learning_rate": 0.01}
    x = torch.randn(64, 3)
    line = torch.nn.Linear(3, 2)
    target = x @ torch.ones(3, 2)
    result = pipedream.train(line, (x, target), loss="mse", epochs=5, **slow)
    assert result.history[-1].loss < 0.5 * result.history[0].loss
    assert result.accuracy is None

    words = torch.nn.Sequential(torch.nn.Embedding(12, 8), torch.nn.Linear(8, 12))
    sentences = torch.arange(40)[:, None].add(torch.arange(6)) % 12
    result = pipedream.train(words, sentences, loss="language-model", epochs=8, **quick)
    assert result.history[-1].loss < 0.5 * result.history[0].loss

    class WithLoss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(3, 2)

        def forward(self, x, target):
            return (self.line(x) - target).square().mean()

    result = pipedream.train(WithLoss(), {"target": target, "x": x}, loss="none", epochs=5, **slow)
    assert result.history[-1].loss < 0.5 * result.history[0].loss


def test_held_out_samples_are_those_given(perceptron, points, quick):
    wrong = (points[0][:20], (points[1][:20] + 1) % 4)
    result = pipedream.train(perceptron, points, held_out=wrong, epochs=6, **quick)
    assert result.minibatches == 6 * 50
    assert result.accuracy < 0.2


def test_a_share_of_the_samples_is_held_out(perceptron, points, quick):
    assert pipedream.train(perceptron, points, held_out=0.5, **quick).minibatches == 25
    everything = pipedream.train(perceptron, points, held_out=0, **quick)
    assert (everything.minibatches, everything.held_out_loss) == (50, None)
    few = (points[0][:6], points[1][:6])
    with pytest.raises(pipedream.CannotMeet, match="held_out 0 holds none out"):
        pipedream.train(perceptron, few, **quick)
    assert pipedream.train(perceptron, few, held_out=0, **quick).samples == 6


def test_a_folder_keeps_the_training_and_it_goes_on(tmp_path, perceptron, points, quick):
    out = tmp_path / "first"
    first = pipedream.train(perceptron, points, out=out, epochs=1, **quick)
    assert first.folder == out
    weights = load_file(out / "run" / "weights.safetensors")
    for name, tensor in perceptron.state_dict().items():
        assert torch.equal(tensor, weights[name])
    with pytest.raises(pipedream.BadUsage, match="holds a training"):
        pipedream.train(perceptron, points, out=out, **quick)
    more = pipedream.resume(out, perceptron, epochs=3, progress=False)
    assert len(more.history) == 3 * 45
    again = pipedream.resume(out, perceptron, epochs=3, progress=False)  # nothing is left to do
    assert again.json == more.json
    assert not torch.equal(perceptron.state_dict()["0.weight"], weights["0.weight"])
    with pytest.raises(pipedream.BadUsage, match="found 3 tensors"):
        pipedream.train(perceptron, (*points, points[0]), out=out, overwrite=True, **quick)
    with pytest.raises(pipedream.BadUsage, match="no option epochz"):
        pipedream.train(perceptron, points, out=out, overwrite=True, epochz=3, **quick)
    other = torch.nn.Linear(3, 4)
    before = other.weight.clone()
    with pytest.raises(pipedream.BadUsage, match="of another model"):
        pipedream.resume(out, other, epochs=9, progress=False)
    assert torch.equal(other.weight, before)
    alike = torch.nn.Sequential(*[torch.nn.Linear(2, 9), *perceptron[1:]])  # the same names, one other shape
    before = {name: tensor.clone() for name, tensor in alike.state_dict().items()}
    with pytest.raises(pipedream.BadUsage, match="0.weight"):
        pipedream.resume(out, alike, epochs=9, progress=False)
    assert all(torch.equal(tensor, before[name]) for name, tensor in alike.state_dict().items())
    assert (out / "run" / "weights.safetensors").exists()  # a mistake costs nothing
    pipedream.train(perceptron, points, out=out, overwrite=True, **quick)
    with pytest.raises(pipedream.BadUsage):
        pipedream.train(perceptron, points[0], out=tmp_path / "failed", **quick)
    assert not (tmp_path / "failed").exists()
    with pytest.raises(pipedream.BadUsage, match="holds no training"):
        pipedream.resume(tmp_path)
    (tmp_path / "interrupted" / "run").mkdir(parents=True)
    with pytest.raises(pipedream.BadUsage, match="before its first checkpoint"):
        pipedream.resume(tmp_path / "interrupted")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words")
    with pytest.raises(pipedream.BadUsage, match="not of a training"):
        pipedream.train(perceptron, points, out=tmp_path / "mine", overwrite=True, **quick)


def test_a_folder_of_a_training_that_failed_is_used_again(tmp_path, perceptron, points, quick):
    out = tmp_path / "run"
    with pytest.raises(pipedream.CannotMeet, match="memory"):
        pipedream.train(perceptron, points, out=out, memory="1KiB", **quick)
    (out / "inputs").mkdir(parents=True, exist_ok=True)
    (out / "inputs" / "data.safetensors").write_text("of a process that was killed")
    (out / "run").mkdir(exist_ok=True)
    (out / "run" / ".lock").write_text("1")
    pipedream.train(perceptron, points, out=out, **quick)
    (out / "run" / "config.json").unlink()
    with pytest.raises(pipedream.BadUsage, match="holds a training"):  # its checkpoints are worth something
        pipedream.train(perceptron, points, out=out, **quick)


def test_files_of_others_stay(tmp_path, perceptron, points, quick):
    mine = tmp_path / "project" / "inputs" / "photo.jpg"
    mine.parent.mkdir(parents=True)
    mine.write_text("words")
    with pytest.raises(pipedream.BadUsage, match="not of a training, such as inputs/photo.jpg"):
        pipedream.train(perceptron, points, out=tmp_path / "project", overwrite=True, **quick)
    assert mine.exists()


def test_a_folder_that_was_moved_goes_on(tmp_path, perceptron, points, quick):
    held_out = (points[0][:20], points[1][:20])
    pipedream.train(perceptron, points, held_out=held_out, out=tmp_path / "old", **quick)
    (tmp_path / "old").rename(tmp_path / "new")
    for epochs in (2, 3):
        result = pipedream.resume(tmp_path / "new", perceptron, epochs=epochs, progress=False)
        assert result.minibatches == 50 * epochs


def test_a_copied_folder_goes_on_with_its_own_inputs(tmp_path, perceptron, points, quick):
    pipedream.train(perceptron, points, out=tmp_path / "old", **quick)
    shutil.copytree(tmp_path / "old", tmp_path / "copy")
    (tmp_path / "old" / "inputs" / "Sequential.pt2").write_bytes(b"no model")
    result = pipedream.resume(tmp_path / "copy", epochs=2, progress=False)
    assert result.minibatches == 90
    (tmp_path / "copy" / "inputs" / "data.safetensors").unlink()
    with pytest.raises(pipedream.Error, match="data"):
        pipedream.resume(tmp_path / "copy", epochs=3, progress=False)


def test_a_file_with_another_model_is_noticed(tmp_path, perceptron, points, quick):
    out = tmp_path / "run"
    pipedream.train(perceptron, points, out=out, **quick)
    other = torch.nn.Sequential(perceptron[0], torch.nn.Sigmoid(), perceptron[2])
    program = torch.export.export(other, (points[0],), dynamic_shapes=({0: torch.export.Dim("batch")},))
    torch.export.save(program, out / "inputs" / "Sequential.pt2")
    with pytest.raises(pipedream.Error, match="the model's program is .* now and was"):
        pipedream.resume(out, epochs=2, progress=False)
    program = torch.export.export(perceptron, (points[0],), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.export.save(program, out / "inputs" / "Sequential.pt2")
    pipedream.resume(out, epochs=2, progress=False)


def test_a_plan_is_trained_as_it_is(perceptron, points, quick):
    profile = pipedream.profile(perceptron, points, batch=8, seconds=0.2, progress=False)
    plan = pipedream.plan(profile, workers=2, system="pipedream", straight=True)
    result = pipedream.train(perceptron, points, plan=plan, **quick)
    assert (result.system, result.plan.config) == ("pipedream", "1-1")
    with pytest.raises(pipedream.BadUsage, match="the plan is for 'pipedream'"):
        pipedream.train(perceptron, points, plan=plan, system="dapple", **quick)
    three = pipedream.plan(profile, workers=3, system="dp-bsp")
    assert three != plan
    assert pipedream.simulate(profile, plan=three).config == "3"
    assert pipedream.train(perceptron, points, plan=three, **quick).plan.config == "3"
    without_batch = {name: value for name, value in quick.items() if name != "batch"}
    of_plan = pipedream.train(perceptron, points, plan=plan, **without_batch)
    assert of_plan.minibatches == 45  # of 8 samples
    other = pipedream.train(perceptron, points, plan=plan, **without_batch, batch=16)
    assert other.minibatches == 23
    assert other.plan.samples_per_second is None
    assert repr(other.plan) == "Plan(pipedream 1-1)"


class Fixed(torch.nn.Module):
    """Takes eight samples only."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 4)

    def forward(self, x):
        return self.line(x.reshape(8, 2))


def test_a_model_for_one_number_of_samples_is_trained_with_that(points, quick):
    with pytest.warns(UserWarning, match="only minibatches of 8 samples"):
        result = pipedream.train(Fixed(), points, system="dp-bsp", **quick)
    assert result.minibatches == 45


def test_modules_keep_their_mode(points, quick):
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 4))
    model.train()
    model[1].eval()  # frozen
    before = model[1].running_mean.clone()
    pipedream.train(model, points, **quick)
    assert model.training and not model[1].training
    assert torch.equal(model[1].running_mean, before)


class Unsized(Dataset):
    def __getitem__(self, i):
        return torch.zeros(2), 0


class Empty(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda x, y: (x, y[:5]), "the same number of samples"),
        (lambda x, y: (x[:, :0], y), "holds nothing"),
        (lambda x, y: {"x": x, "target": y}, "names of forward's arguments"),
        (lambda x, y: (x, x, y), "found 3 tensors"),
        (lambda x, y: x, "found 1 tensor"),
        (lambda x, y: (x[:1], y[:1]), "at least two samples"),
        (lambda x, y: None, "wants data"),
        (lambda x, y: DataLoader(TensorDataset(x, y)), "give its .dataset"),
        (lambda x, y: (x.to(torch.complex64), y), "wanted one of the types float64, .* found torch.complex64"),
        (lambda x, y: [1, 2, 3], "list of numbers"),
        (lambda x, y: {"input": x}, "wants a target"),
        (lambda x, y: {}, "at least one tensor, found none"),
        (lambda x, y: (x.to("meta"), y), "on the meta device"),
        (lambda x, y: (x.to_sparse(), y), "found the layout torch.sparse_coo; .to_dense"),
        (lambda x, y: (torch.nested.nested_tensor([x[0], x[0, :1]]), y[:2]), "found a nested tensor"),
        (lambda x, y: (x.numpy().astype(object), y), r"data\[0\]: wanted a tensor, .* found a ndarray"),
        (lambda x, y: Unsized(), "has no len"),
        (lambda x, y: Empty(), "wanted a tensor in each sample, found none"),
    ],
)
def test_wrong_data_is_refused_with_a_reason(data, message, perceptron, points):
    before = perceptron[0].weight.clone()
    with pytest.raises(pipedream.BadUsage, match=message):
        pipedream.train(perceptron, data(*points), progress=False)
    assert torch.equal(perceptron[0].weight, before)


def test_wrong_kinds_of_arguments_are_named(perceptron, points):
    with pytest.raises(pipedream.BadUsage, match="found a CrossEntropyLoss; for any other, let the model return"):
        pipedream.train(perceptron, points, loss=torch.nn.CrossEntropyLoss())
    with pytest.raises(pipedream.BadUsage, match="found the class Linear"):
        pipedream.train(torch.nn.Linear, points)
    with pytest.raises(pipedream.BadUsage, match="found a Sequential"):
        pipedream.resume(perceptron, "out")
    with pytest.raises(pipedream.BadUsage, match="batch: wanted a whole number from 1, found '8'"):
        pipedream.train(perceptron, points, batch="8")
    with pytest.raises(pipedream.BadUsage, match="workers: wanted a whole number from 1, found 0"):
        pipedream.train(perceptron, points, workers=0)
    with pytest.raises(pipedream.BadUsage, match="seed: wanted a value, found True"):
        pipedream.train(perceptron, points, seed=True)
    with pytest.raises(pipedream.BadUsage, match="lone surrogates"):
        pipedream.train(perceptron, points, link="\0")
    with pytest.raises(pipedream.BadUsage, match="held_out: wanted a number from 0 to 0.9, found '2'"):
        pipedream.train(perceptron, points, held_out=2, progress=False)
    with pytest.raises(pipedream.BadUsage, match="json= is no option"):
        pipedream.train(perceptron, points, json=True)
    with pytest.raises(pipedream.CannotMeet, match="requires_grad is False for all of them"):
        pipedream.train(perceptron.requires_grad_(False), points, progress=False)


@pytest.mark.parametrize("wrong", [3, True, int, [1], b"b", "", "a\0b", "\ud800", object()])
def test_what_is_no_path_is_named(wrong, perceptron, points):
    calls = [
        lambda: pipedream.train(perceptron, points, out=wrong),
        lambda: pipedream.train(perceptron, points, plan=wrong),
        lambda: pipedream.resume(wrong),
        lambda: pipedream.Plan.load(wrong),
        lambda: pipedream.train(wrong, points),
    ]
    for call in calls:
        with pytest.raises(pipedream.BadUsage, match="wanted"):
            call()


@pytest.mark.parametrize("wrong", ["x", 3, torch.nn.Linear, [1], {}, pathlib.Path("net.pt2")])
def test_only_a_module_gets_weights(wrong, tmp_path):
    with pytest.raises(pipedream.BadUsage, match="model: wanted the torch.nn.Module that gets the weights"):
        pipedream.resume(tmp_path, wrong)


def test_folders_that_cannot_be_used_are_named(tmp_path, perceptron, points):
    file = tmp_path / "file"
    file.write_text("words")
    with pytest.raises(pipedream.BadUsage, match="wanted a folder, found the file"):
        pipedream.train(perceptron, points, out=file)
    for out in (file / "below", tmp_path / ("long" * 100), "/proc/none"):
        with pytest.raises(pipedream.IoError, match="cannot use the folder"):
            pipedream.train(perceptron, points, out=out)
        with pytest.raises(pipedream.BadUsage, match="holds no training"):
            pipedream.resume(out)
    with pytest.raises(pipedream.BadUsage, match="holds no training"):
        pipedream.resume(file)


def test_tensors_of_all_strides_are_data(perceptron, points, quick):
    x, y = points
    trained = []
    for data in [(x, y), (x.T.contiguous().T, y), (x.clone().requires_grad_() * 1, y), (x, y.flip(0).flip(0))]:
        model = torch.nn.Linear(2, 4)
        model.load_state_dict({"weight": torch.ones(4, 2), "bias": torch.zeros(4)})
        pipedream.train(model, data, system="dp-bsp", **quick)
        trained.append(model.weight)
    for other in trained[1:]:
        assert torch.equal(trained[0], other)


def test_a_training_may_be_too_short_to_measure(perceptron, points, quick):
    result = pipedream.train(perceptron, points, **(quick | {"batch": 512, "minibatches": 1}))
    assert math.isnan(result.samples_per_second)
    assert "too short to measure" in repr(result)
    assert "minibatches" in result._repr_html_()


def test_a_minibatch_of_one_sample_leaves_batch_norm_sound(points, quick):
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 4))
    x, y = points
    result = pipedream.train(model, (x[:54], y[:54]), **quick)  # 49 samples are trained, 8 at a time
    assert result.held_out_loss is not None
    assert model[1].running_var.isfinite().all()


class Ragged(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, i):
        return torch.randn(2 if i < 7 else 3), i % 4


def test_samples_of_other_shapes_are_named(perceptron):
    with pytest.raises(pipedream.BadUsage, match="sample 7, 0: wanted torch.float32 .2. as in sample 0"):
        pipedream.train(perceptron, Ragged(), progress=False)


def test_errors_of_the_program_are_exceptions(capfd, perceptron, points, quick, tmp_path):
    with pytest.raises(pipedream.BadUsage, match="did you mean 'workers'") as caught:
        pipedream.train(perceptron, points, workerz=3)
    assert caught.value.exit_code == 2
    assert "workers" not in capfd.readouterr().err  # it is not shown besides
    with pytest.raises(pipedream.CannotMeet, match="memory") as caught:
        pipedream.train(perceptron, points, memory="1KiB", **quick)
    assert caught.value.exit_code == 78
    with pytest.raises(pipedream.CannotMeet, match="(?s)  the data: the tensor 'target' has numbers of the type Float"):
        pipedream.train(perceptron, (points[0], points[1].float()), **quick)
    (tmp_path / "net.pt2").write_bytes(b"not a zip")
    with pytest.raises(pipedream.BadFile):
        pipedream.train(tmp_path / "net.pt2", progress=False)
    with pytest.raises(pipedream.IoError):
        pipedream.train(tmp_path / "none.pt2", progress=False)


@pytest.mark.parametrize(
    ("loss", "target", "hint"),
    [
        ("cross-entropy", lambda y: y.float(), "the loss mse is for real numbers"),
        ("cross-entropy", lambda y: y[:, None], "squeeze.-1. removes the last dimension"),
        ("cross-entropy", lambda y: torch.nn.functional.one_hot(y, 4), "argmax.. makes from one-hot vectors"),
        ("mse", lambda y: torch.randn(len(y), 4, 1), "squeeze.-1. removes the last dimension"),
    ],
)
def test_a_target_that_does_not_fit_gets_a_hint(loss, target, hint, perceptron, points, quick):
    with pytest.raises(pipedream.CannotMeet, match=f"(?s)the tensor 'target' has.*; .*{hint}"):
        pipedream.train(perceptron, (points[0], target(points[1])), loss=loss, **quick)


def test_a_model_with_one_number_per_sample_is_for_mse(points, quick):
    line = torch.nn.Linear(2, 1)
    with pytest.raises(pipedream.CannotMeet, match="one number per sample: choose the loss mse"):
        pipedream.train(line, points, **quick)
    assert pipedream.profile(line, points[0], seconds=0.2, progress=False).layers[-1].kind == "MSE"
    with pytest.raises(pipedream.CannotMeet, match="unsqueeze.-1. adds the last dimension"):
        pipedream.train(line, (points[0], points[0][:, 0]), loss="mse", **quick)


def test_a_built_in_network_is_trained_by_its_name():
    result = pipedream.train("mlp", hidden=8, minibatches=4, profile_seconds=0.2, progress=False)
    assert result.json["model"] == "mlp"


def test_progress_is_shown(capfd, perceptron, points, quick):
    pipedream.train(perceptron, points, **(quick | {"progress": True}))
    shown = capfd.readouterr().err
    assert "training Sequential" in shown
    assert "written to" not in shown  # of files that are removed


LONG = """
    import torch, pipedream
    model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    before = model[0].weight.clone()
    x = torch.randn(4000, 2)
    try:
        pipedream.train(model, (x, (x[:, 0] > 0).long()), epochs=100000, batch=8, profile_seconds=0.2{out})
    except KeyboardInterrupt:
        print("interrupted", bool((model[0].weight != before).any()), flush=True)
"""


def start(out=""):
    """A process that trains for long. Returns it once it trains."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(LONG).format(out=out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    for line in process.stderr:
        if "epoch 1:" in line:
            return process
    raise AssertionError(f"it ended with {process.wait()}")


def test_ctrl_c_needs_no_folder():
    process = start()
    os.kill(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert printed == "interrupted True\n"


def test_ctrl_c_stops_with_the_weights_of_the_moment(tmp_path):
    process = start(f", out={str(tmp_path / 'run')!r}")
    os.kill(process.pid, signal.SIGINT)
    printed, shown = process.communicate(timeout=60)
    assert printed == "interrupted True\n"
    assert shown.count("goes on") == 1
    assert f"pipedream.resume('{tmp_path / 'run'}') goes on" in shown
    assert process.returncode == 0
    done = len((tmp_path / "run" / "run" / "metrics.jsonl").read_text().splitlines())
    result = pipedream.resume(tmp_path / "run", epochs=int(done / 450) + 2, progress=False)
    assert result.minibatches > 0


def children_of(pid):
    return [int(each) for each in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_program_ends_with_the_python_that_started_it():
    process = start()
    (program,) = children_of(process.pid)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while is_running(program) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_running(program)
