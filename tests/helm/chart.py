"""The chart of this checkout: rendered, linted, and its files."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from helm.build import helm_binary

Json = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parents[2]
CHART: Final = ROOT / "charts" / "weightrollout"
OF_TESTS: Final = ROOT / "tests" / "chart"
#: Value sets, by name: each has a golden of the same name.
SETS: Final = {path.stem: path for path in sorted((OF_TESTS / "values").glob("*.yaml"))}
RELEASE: Final = "wr"
NAMESPACE: Final = "serving"
DEADLINE_S: Final = 120.0
NO_CLUSTER: Final = Path(os.devnull)
#: The schema is the CRD file's own and has its tests there.
CUT: Final = "spec: # ... as files/crd.yaml has it\n"


@dataclass(frozen=True)
class Said:
    """What helm answered."""

    ok: bool
    out: str
    error: str


def helm(*arguments: str, kubeconfig: Path = NO_CLUSTER) -> Said:
    """One command, without the user's settings; it speaks to the cluster of `kubeconfig` or to none."""
    with tempfile.TemporaryDirectory(prefix="helm-") as home:
        places = {f"HELM_{each}_HOME": home for each in ("CACHE", "CONFIG", "DATA")}
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": home, **places}
        done = subprocess.run(
            [str(helm_binary()), *arguments],
            capture_output=True,
            text=True,
            env={**environment, "KUBECONFIG": str(kubeconfig)},
            timeout=DEADLINE_S,
            check=False,
        )
    return Said(done.returncode == 0, done.stdout, done.stderr)


@cache  # helm reads the chart anew each time, and the tests ask for few value sets often
def template(values: Path, *more: str, namespace: str = NAMESPACE) -> Said:
    """`helm template` of one value set; `more` are further arguments, such as --set."""
    return helm(
        "template", RELEASE, str(CHART), f"--namespace={namespace}", f"--values={values}", *more
    )


def rendered(values: Path, *more: str, namespace: str = NAMESPACE) -> list[Json]:
    """The objects of one value set, as YAML reads them."""
    said = template(values, *more, namespace=namespace)
    assert said.ok, said.error
    return [found for found in yaml.safe_load_all(said.out) if found]


def of_kind(objects: Sequence[Json], kind: str) -> list[Json]:
    return [each for each in objects if each["kind"] == kind]


def one(objects: Sequence[Json], kind: str) -> Json:
    (found,) = of_kind(objects, kind)
    return found


def golden(name: str) -> Path:
    return OF_TESTS / "goldens" / f"{name}.yaml"


def golden_text(name: str) -> str:
    """What `helm template` prints for the set, the CRD's schema left out."""
    said = template(SETS[name])
    assert said.ok, said.error
    return "---\n".join(_cut(said.out.split("---\n")))


def _cut(documents: list[str]) -> Iterator[str]:
    for document in documents:
        if re.search("^kind: CustomResourceDefinition$", document, re.MULTILINE):
            yield re.sub(r"^spec:\n(  .*\n|\n)*", CUT, document, flags=re.MULTILINE)
        else:
            yield document
