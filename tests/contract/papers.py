"""Certificates of an engine and of agents, as PEM files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcluster.certificates import Authority
from weightrollout.engine.tls import TlsFiles

NAME: Final = "engine.example"  # in the engine's certificate; it is called at 127.0.0.1


@dataclass(frozen=True, slots=True)
class Papers:
    """A folder of PEM files: of two authorities, the engine, and agents signed by each."""

    folder: Path

    def tls(self, ca: str = "ca", agent: str | None = None, name: str = NAME) -> TlsFiles:
        certificate, key = (None, None) if agent is None else self.pair(agent)
        return TlsFiles(self.folder / f"{ca}.pem", certificate, key, name)

    def pair(self, who: str) -> tuple[Path, Path]:
        return self.folder / f"{who}.pem", self.folder / f"{who}.key"

    def engine_flags(self, *, asks_who_calls: bool) -> tuple[str, ...]:
        certificate, key = self.pair("engine")
        flags = ("--ssl-certfile", str(certificate), "--ssl-keyfile", str(key))
        if not asks_who_calls:
            return flags
        return (*flags, "--ssl-ca-certs", str(self.folder / "ca.pem"), "--ssl-cert-reqs", "2")

    def replace(self, who: str, by: str) -> None:
        """As a mounted Secret does: other files under the old names."""
        for old, new in zip(self.pair(who), self.pair(by), strict=True):
            fresh = old.with_suffix(".new")
            fresh.write_bytes(new.read_bytes())
            fresh.replace(old)


def write_papers(folder: Path) -> Papers:
    papers = Papers(folder)
    for ca, names in (("ca", ("engine", "agent", "renewed")), ("other", ("stranger",))):
        authority = Authority()
        (papers.folder / f"{ca}.pem").write_bytes(authority.certificate)
        for name in names:
            leaf = authority.issue(name, hosts=(NAME,))
            certificate, key = papers.pair(name)
            certificate.write_bytes(leaf.certificate)
            key.write_bytes(leaf.key)
    return papers
