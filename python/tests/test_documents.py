"""The documents are run as they stand: their Python and their commands, from the first to the last."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def blocks_of(document):
    found = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "docs" / document).read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"{document} has no blocks of code"
    return found


def environment():
    """With the command `pipedream` of this environment."""
    return os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("document", ["own_models.md", "python.md"])
def test_a_document_works_word_for_word(document, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, text in blocks_of(document):
        if language == "python":
            exec(compile(text, document, "exec"), names)
        else:
            assert language == "sh", language
            subprocess.run(["bash", "-ec", text], env=environment(), check=True, timeout=300)
    shown = capsys.readouterr().out
    if document == "own_models.md":
        assert int(re.search(r"(\d+) % right", shown).group(1)) > 80
    else:
        assert float(shown.split()[0]) > 0.8  # the accuracy
