"""The operator's skills as they lie in a folder."""

from pathlib import Path

import pytest

from abilities.skills.folders import read_folder, read_skill
from core.errors import ConfigError
from onevalet.cli.new_files import write_new

HEAD = "---\nname: report\ndescription: When somebody wants\n  a report.\nallowed-tools: Bash\n---\n"


def _write(folder: Path, text: str, name: str = "report", **files: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)
    for file, content in files.items():
        (folder / name / file).write_text(content)
    return folder / name


def test_a_skill_is_read_with_its_files_and_nothing_outside(tmp_path: Path) -> None:
    made = _write(tmp_path / "skills", HEAD + "Do it.\n", tone="Dry.")
    (tmp_path / "secret").write_text("s3cret")
    (made / "link").symlink_to(tmp_path / "secret")
    (made / "folder").symlink_to(tmp_path)
    (made / "picture").write_bytes(b"\xff\xfe\x00")
    (made / "run.sh").write_text("#!/bin/sh\ntouch /tmp/ran\n")
    (skill,) = read_folder(tmp_path / "skills")
    assert (skill.name, skill.description, skill.text) == ("report", "When somebody wants a report.", "Do it.")
    assert sorted(skill.files) == ["run.sh", "tone"]


def test_the_skill_that_new_writes_can_be_read(tmp_path: Path) -> None:
    files, _ = write_new("skill", "water-plants", "house", tmp_path)
    assert read_skill(files[0].parent).name == "water-plants"


def test_each_change_changes_the_hash(tmp_path: Path) -> None:
    made = _write(tmp_path, HEAD + "Do it.", tone="Dry.")
    hashes = {read_folder(tmp_path)[0].hash}
    for file, text in (("tone", "Wet."), ("more", "x"), ("SKILL.md", HEAD + "Do that.")):
        (made / file).write_text(text)
        hashes.add(read_folder(tmp_path)[0].hash)
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Do it.", "must begin with ---"),
        ("---\nname: [\n---\nx", "no YAML"),
        ("---\nname: other\ndescription: x\n---\nx", "that of the folder"),
        ("---\nname: report\n---\nx", "needs a description"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    _write(tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        read_folder(tmp_path)
    assert told in str(raised.value)


def test_too_large_a_file_is_refused(tmp_path: Path) -> None:
    _write(tmp_path, HEAD + "x", big="y" * 60_000)
    with pytest.raises(ConfigError, match="at most"):
        read_folder(tmp_path)
