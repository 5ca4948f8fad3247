"""The bill of materials of one image, as CycloneDX JSON: Python's packages as cyclonedx-py reads them, and Debian's.

In: an OCI archive. Out: the same text each time, checked against CycloneDX's own schema.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from images import tools
from images.archive import Archive
from images.commands import BuildFailed, run

Json = dict[str, Any]

SPECIFICATION: Final = "1.6"
DPKG: Final = "var/lib/dpkg/status"
VENV: Final = re.compile(r"app/lib/python[0-9.]+/site-packages/[^/]+\.dist-info(/|$)")
DEBIAN: Final = "pkg:deb/debian/"
PYPI: Final = "pkg:pypi/"
#: Run by the Python that has cyclonedx's library; says what is wrong.
CHECK: Final = (
    "import sys; from cyclonedx.schema import SchemaVersion as V;"
    " from cyclonedx.validation.json import JsonStrictValidator as J;"
    f" wrong = J(V.V{SPECIFICATION.replace('.', '_')}).validate_str(open(sys.argv[1]).read());"
    " sys.exit(str(wrong) if wrong else 0)"
)


def write_sbom(archive: Path, name: str, version: str, target: Path) -> None:
    """Raises commands.BuildFailed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        Archive(archive).unpack(root, lambda each: each == DPKG or bool(VENV.match(each)))
        bill = _of_python(root)
        bill["components"] += list(_of_debian(root / DPKG))
    subject = {"type": "container", "name": name, "version": version, "bom-ref": name}
    bill["metadata"]["component"] = subject
    ours = [each["bom-ref"] for each in bill["components"] if each["name"] == "weightrollout"]
    bill["dependencies"].append({"ref": name, "dependsOn": ours})
    text = json.dumps(bill, indent=1) + "\n"
    _check(text)
    target.write_text(text)


def packages(sbom: Path) -> tuple[int, int]:
    """How many of Python's, our own included, and of Debian's."""
    names = [str(each.get("purl", "")) for each in json.loads(sbom.read_text())["components"]]
    return sum(each.startswith(PYPI) for each in names), sum(
        each.startswith(DEBIAN) for each in names
    )


def _of_python(root: Path) -> Json:
    [packages] = root.glob("app/lib/python*/site-packages")
    # It asks an interpreter where to look. The image's own would tell the path inside the image.
    answer = root / "where"
    path = json.dumps(json.dumps([str(packages)]))
    answer.write_text(f"#!{sys.executable}\nprint({path})\n")
    answer.chmod(0o755)
    how = ["environment", "--output-reproducible", f"--spec-version={SPECIFICATION}"]
    found: Json = json.loads(run([str(tools.program("cyclonedx-py")), *how, str(answer)]))
    return found


def _of_debian(status: Path) -> Iterator[Json]:
    if not status.exists():  # another base
        return
    for block in status.read_text().split("\n\n"):
        said = dict(re.findall(r"^([A-Za-z-]+): (.*)$", block, re.MULTILINE))
        if not said.get("Status", "").endswith(" installed"):
            continue
        name, version = said["Package"], said["Version"]
        purl = f"{DEBIAN}{name}@{version.replace('+', '%2B')}?arch={said['Architecture']}"
        yield {
            "type": "library",
            "bom-ref": f"deb:{name}={version}",
            "name": name,
            "version": version,
            "purl": purl,
        }


def _check(text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        try:
            run([str(tools.program("python")), "-c", CHECK, file.name])
        except BuildFailed as wrong:
            raise BuildFailed(f"not CycloneDX {SPECIFICATION}: {wrong}") from wrong
