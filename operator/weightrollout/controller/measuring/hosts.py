"""The list of hosts that analyses may ask: --analysis-host HOST[:PORT], empty where nothing is said."""

from dataclasses import dataclass
from typing import Final

from yarl import URL


@dataclass(frozen=True, slots=True)
class Hosts:
    """Names are compared as they are written, lower case; what they resolve to is not looked at."""

    allowed: frozenset[tuple[str, int | None]] = frozenset()  # None: the scheme's own port

    def allow(self, url: URL) -> bool:
        """Only http and https, and only where host and port are on the list."""
        if url.scheme not in ("http", "https") or not url.raw_host:
            return False
        host = url.raw_host.lower()
        own_port = url.port == (443 if url.scheme == "https" else 80)
        return (host, url.port) in self.allowed or (own_port and (host, None) in self.allowed)


NOBODY: Final = Hosts()


def only(url: URL) -> Hosts:
    """For a place that an administrator named."""
    return Hosts(frozenset({((url.raw_host or "").lower(), url.port)}))


def hosts_of(entries: list[str]) -> Hosts:
    """Raises ValueError. An IPv6 address has brackets, as in a URL."""
    return Hosts(frozenset(_entry(each) for each in entries))


def address_of(text: str) -> URL:
    """A base URL. Raises ValueError."""
    url = URL(text)
    if url.scheme not in ("http", "https") or not url.raw_host or url.user or url.query_string:
        raise ValueError(f"must be http://HOST[:PORT][/PATH] or https://..., got: {text}")
    return url


def _entry(text: str) -> tuple[str, int | None]:
    if not text or any(each in text for each in "/?#@*") or text != text.strip():
        raise ValueError(f"--analysis-host must be HOST or HOST:PORT, got: {text!r}")
    try:
        url = URL(f"http://{text}")
        host = url.raw_host
    except ValueError as wrong:
        raise ValueError(f"--analysis-host must be HOST or HOST:PORT, got: {text!r}") from wrong
    if not host:
        raise ValueError(f"--analysis-host must be HOST or HOST:PORT, got: {text!r}")
    return host.lower(), url.explicit_port
