import pytest
import torch

import pipedream


@pytest.fixture
def profile(perceptron, points):
    return pipedream.profile(perceptron, points, batch=8, seconds=0.2, workers=2, progress=False)


def test_a_profile_has_the_layers(profile, tmp_path):
    assert [layer.name for layer in profile.layers] == ["0", "1", "2", "loss"]
    assert profile.batch == 8
    assert profile.layers[0].weight_bytes == 4 * (2 * 32 + 32)
    assert 0 < profile.layers[0].seconds < profile.seconds
    page = profile._repr_html_()
    assert "Linear" in page and page.count("<tr>") == 5
    profile.save(tmp_path / "profile.json")
    assert pipedream.Profile.load(tmp_path / "profile.json").json == profile.json


def test_inputs_alone_are_enough_to_profile(perceptron):
    profile = pipedream.profile(perceptron, torch.randn(2, 2), loss="mse", batch=4, seconds=0.2, progress=False)
    assert profile.layers[-1].name == "loss"


def test_a_plan_has_stages(profile, tmp_path):
    plan = pipedream.plan(profile, workers=2, system="pipedream", straight=True)
    assert plan.system == "pipedream"
    assert plan.config == "1-1"
    assert [stage.workers for stage in plan.stages] == [[0], [1]]
    assert sum((stage.layers for stage in plan.stages), []) == ["0", "1", "2", "loss"]
    assert plan.samples_per_second > 0
    assert "1-1" in plan._repr_html_()
    plan.save(tmp_path / "plan.json")
    assert pipedream.Plan.load(tmp_path / "plan.json").config == "1-1"


def test_a_simulation_has_a_timeline(profile):
    plan = pipedream.plan(profile, workers=2, system="pipedream", straight=True)
    simulation = pipedream.simulate(profile, plan=plan, workers=2)
    assert (simulation.system, simulation.config) == ("pipedream", "1-1")
    assert 0 < simulation.utilisation <= 1
    assert len(simulation.peak_memory_bytes) == 2
    assert "<svg" in simulation._repr_html_()


def test_a_comparison_has_all_systems(profile):
    comparison = pipedream.compare(profile, workers=2)
    systems = [run.system for run in comparison.runs]
    assert {"pipedream", "dapple", "gpipe", "dp-bsp", "2bw"} <= set(systems)
    assert comparison.auto in systems
    assert comparison["dp-bsp"].simulated > 0
    assert comparison["dp-bsp"].measured is None
    assert comparison["dp-bsp"].staleness == 0
    assert comparison._repr_html_().count("<tr>") == len(systems) + 1
    with pytest.raises(KeyError):
        comparison["none"]


def test_a_cluster_file_stands_for_workers(profile, tmp_path):
    file = tmp_path / "cluster.toml"
    file.write_text(
        'format = "pipedream-cluster"\nversion = 1\nname = "two"\n[device]\nmemory = "1GiB"\n'
        '[[level]]\nname = "link"\ncount = 2\nbandwidth = "1Gbit/s"\n'
    )
    assert pipedream.plan(profile, cluster=file).json["workers"] == 2
    with pytest.raises(pipedream.BadUsage, match="found both"):
        pipedream.plan(profile, cluster=file, workers=2)


def test_a_comparison_that_runs_measures(perceptron, points):
    before = perceptron[0].weight.clone()
    comparison = pipedream.compare(
        perceptron, points, run=True, workers=2, batch=8, seconds=0.2, minibatches=8, progress=False
    )
    assert comparison["dp-bsp"].measured > 0
    assert "measured" in comparison._repr_html_()
    assert torch.equal(perceptron[0].weight, before)
