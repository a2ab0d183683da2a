import importlib.metadata
import pathlib
import shutil
import subprocess
import sys

import pytest

import pipedream
from pipedream import _program


def test_the_command_is_the_program():
    command = pathlib.Path(sys.executable).parent / "pipedream"
    done = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert done.stdout.strip() == importlib.metadata.version("pipedream")
    done = subprocess.run([command, "train", "--model", "none"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("pipedream: ")


def test_another_torch_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(_program, "TORCH_VERSION", "2.10.0+other")
    with pytest.raises(ImportError, match="built for torch 2.10.0.other, and torch .* is installed: install pipedream"):
        _program.check_torch()
    with pytest.raises(SystemExit) as caught:
        _program.main()
    assert caught.value.code == 78
    assert "built for torch" in capsys.readouterr().err


def test_the_command_says_that_another_torch_is_installed(tmp_path):
    package = pathlib.Path(pipedream.__file__).parent
    shutil.copytree(package, tmp_path / "pipedream", ignore=shutil.ignore_patterns("bin"))
    (tmp_path / "pipedream" / "_build.py").write_text('TORCH_VERSION = "1.0"\n')
    command = "from pipedream._program import main; main()"
    done = subprocess.run([sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 78
    assert done.stderr.startswith("pipedream: pipedream was built for torch 1.0")
    done = subprocess.run(
        [sys.executable, "-c", "import pipedream; pipedream.train"], cwd=tmp_path, capture_output=True
    )
    assert b"ImportError: pipedream was built for torch 1.0" in done.stderr


def test_the_package_is_typed():
    assert (pathlib.Path(pipedream.__file__).parent / "py.typed").exists()


def test_all_names_exist():
    assert {name for name in pipedream.__all__ if getattr(pipedream, name) is None} == set()
    assert set(pipedream.__all__) <= set(dir(pipedream))
    with pytest.raises(AttributeError, match="no attribute 'trane'"):
        _ = pipedream.trane


def show(chunks, failed, capsys, hidden=None):
    screen = _program._Screen(show=True, hidden=hidden, names={"/tmp/z/data.safetensors": "the data"}, dropped="")
    for chunk in chunks:
        screen.add(chunk)
    message = screen.end(failed)
    return capsys.readouterr().err, message


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_screen_holds_back_the_error_alone(size, capsys):
    def cut(text):
        return [text[i : i + size] for i in range(0, len(text), size)]

    text = "one\nwritten to /x/a\nwritten to /y/b\npipedream: bad\n  two lines\n"
    shown, message = show(cut(text), True, capsys, hidden="/x/")
    assert shown == "one\nwritten to /y/b\n"
    assert message == "bad\n  two lines"
    shown, message = show(cut(text), False, capsys)
    assert shown == text
    bar = "\r\x1b[Ktraining 3 %\r\x1b[Ktraining 4 %\r\x1b[K"
    shown, message = show(cut(bar + "pipedream: bad\n"), True, capsys)
    assert (shown, message) == (bar.removesuffix("\x1b[K"), "bad")
    shown, message = show(cut("pipedream: /tmp/z/data.safetensors: bad\n"), True, capsys)
    assert message == "the data: bad"


def test_messages_name_arguments_instead_of_flags():
    assert _program._with_keywords("--learning-rate: too high, try --lr") == "learning_rate: too high, try lr"
    quoted = "'pipedream train --resume run' goes on; a--b; --help shows it"
    assert _program._with_keywords(quoted) == quoted
