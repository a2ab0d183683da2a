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
    (tmp_path / "graph.txt").write_text("node1 -- Input0")
    with pytest.raises(pipedream.BadFile, match="wanted JSON"):
        pipedream.Profile.load(tmp_path / "graph.txt")
    with pytest.raises(pipedream.IoError, match="cannot read"):
        pipedream.Profile.load(tmp_path / "none.json")


def test_files_of_another_kind_are_no_plan(profile, perceptron, points, tmp_path):
    profile.save(tmp_path / "profile.json")
    for content in ("[1]", "{}", '{"format": "pipedream-plan", "version": 1, "workers": "two"}'):
        (tmp_path / "plan.json").write_text(content)
        with pytest.raises(pipedream.BadFile, match="plan.json: .*wanted"):
            pipedream.train(perceptron, points, plan=tmp_path / "plan.json")
    with pytest.raises(pipedream.BadFile, match="format 'pipedream-plan', .* found 'pipedream-profile'"):
        pipedream.simulate(profile, plan=tmp_path / "profile.json")
    with pytest.raises(pipedream.BadFile, match="found 'no format'"):
        pipedream.train(perceptron, points, plan=pipedream.Plan({}))
    with pytest.raises(pipedream.BadUsage, match="plan: wanted a Plan or its file, found a Profile"):
        pipedream.train(perceptron, points, plan=profile)
    with pytest.raises(pipedream.BadFile, match="^the profile:"):
        pipedream.plan(pipedream.Profile(profile.json | {"layers": []}))


def test_a_document_that_cannot_be_written_is_named(profile, tmp_path):
    with pytest.raises(pipedream.IoError, match="cannot write .*none/x.json: No such file"):
        profile.save(tmp_path / "none" / "x.json")
    with pytest.raises(pipedream.IoError, match="Is a directory"):
        profile.save(tmp_path)
    with pytest.raises(pipedream.BadUsage, match="file: wanted a path"):
        profile.save(None)
    with pytest.raises(pipedream.BadUsage, match="svg: wanted a path"):
        pipedream.simulate(profile, svg=3)


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
    assert plan.simulated_samples_per_second > 0
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


def test_one_minibatch_has_no_speed(profile):
    assert "too short to measure" in pipedream.simulate(profile, minibatches=1)._repr_html_()
    assert "too short to measure" in repr(pipedream.compare(profile, minibatches=1))


def test_a_comparison_has_all_systems(profile):
    comparison = pipedream.compare(profile, workers=2)
    systems = [run.system for run in comparison.runs]
    assert {"pipedream", "dapple", "gpipe", "dp-bsp", "2bw"} <= set(systems)
    assert comparison.auto in systems
    assert comparison["dp-bsp"].simulated > 0
    assert comparison["dp-bsp"].measured is None
    assert comparison["dp-bsp"].staleness == 0
    assert comparison._repr_html_().count("<tr>") == len(systems) + 1
    assert [run.system for run in comparison] == systems and len(comparison) == len(systems)
    with pytest.raises(KeyError, match="there are pipedream, "):
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
