"""hf://organisation/name@revision/folder/ - a repository of the Hugging Face hub, or of one that speaks as it does.

A revision that moves, such as a branch, is pinned to its commit when it is first looked at. What comes is
checked against the sha256 that the hub names for every large file.

HF_TOKEN, or the file that HF_TOKEN_PATH names, is sent to the hub (HF_ENDPOINT) and nowhere else: the hub
sends its readers on to other hosts with links that need none.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urljoin

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import uri
from weightrollout.weights.sources.http import Answer, Http, origin
from weightrollout.weights.sources.https import ranged
from weightrollout.weights.sources.remote import Remote
from weightrollout.weights.sources.retry import Patience
from weightrollout.weights.sources.source import Stamp

SCHEME: Final = "hf"
HUB: Final = "https://huggingface.co"

_NEXT: Final = re.compile(r'<([^>]+)>\s*;\s*rel="next"')
_MAX_PAGES: Final = 100
_EXPIRED: Final = frozenset({400, 401, 403, 404, 410})


class Hub(Remote):
    def __init__(self, text: str, patience: Patience, cancelled: Callable[[], bool]) -> None:
        """Raises WeightsError where the URI, or the pod's settings, cannot be used."""
        place = uri.place(text)
        name, _, folder = place.path.partition("/")
        name, at, revision = name.partition("@")
        if not name or (at and not revision):
            raise uri.unsupported(text, "write hf://organisation/name@revision")
        super().__init__(uri.shown(text).rstrip("/"), patience, cancelled)
        self._hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
        if not self._hub.startswith("https://"):
            raise uri.unsupported(self.where, "HF_ENDPOINT must begin with https://")
        self._repository = f"{quote(place.host)}/{quote(name)}"
        self._revision, self._folder = revision or "main", folder
        self._commit = ""
        self._http = Http(
            patience,
            self._hub,
            _token(self.where),
            lambda begin, _: origin(begin) == origin(self._hub),
        )
        self._found: dict[str, str] = {}  # where the hub sent us for a file
        self._found_lock = threading.Lock()

    def close(self) -> None:
        super().close()
        self._http.close()

    def _list(self) -> dict[str, Stamp]:
        if not self._commit:
            api = f"{self._hub}/api/models/{self._repository}/revision/{quote(self._revision, safe='')}"
            commit = self._json(api)
            if not isinstance(commit, dict) or not isinstance(commit.get("sha"), str):
                raise self._odd()
            self._commit = commit["sha"]
        folder = f"/{quote(self._folder)}" if self._folder else ""
        entries = self._pages(
            f"{self._hub}/api/models/{self._repository}/tree/{quote(self._commit, safe='')}{folder}"
        )
        promised, stamps = {}, {}
        begin = f"{self._folder}/" if self._folder else ""
        for entry in entries:
            try:
                if entry["type"] != "file":
                    continue
                name = entry["path"].removeprefix(begin)
                stamps[name] = Stamp(int(entry["size"]), self._commit)  # its files never change
                if large := entry.get("lfs"):
                    promised[name] = str(large["oid"])
            except (KeyError, TypeError, ValueError, AttributeError):
                raise self._odd() from None
        self.promised = self.promised or promised
        return stamps

    def _pages(self, url: str) -> list[Any]:
        found: list[Any] = []
        for _ in range(_MAX_PAGES):
            answer = self._ask(url)
            page = self._parsed(answer)
            if not isinstance(page, list):
                raise self._odd()
            found += page
            further = _NEXT.search(answer.headers.get("link", ""))
            if further is None:
                return found
            url = urljoin(url, further[1])
            if origin(url) != origin(self._hub):
                raise self._odd()
        raise self._odd()

    def _json(self, url: str) -> Any:
        return self._parsed(self._ask(url))

    def _ask(self, url: str) -> Answer:
        answer = self._http.ask("GET", url, self.where)
        if answer.status != 200:
            # The hub hides what one may not see: 401 for a repository that is not there, too.
            raise answer.refusal(self.where, pinned=False)
        return answer

    def _parsed(self, answer: Answer) -> Any:
        try:
            return json.loads(bytes(answer.body))
        except ValueError:
            raise self._odd() from None

    def _odd(self) -> WeightsError:
        return WeightsError(
            Reason.SOURCE_UNREADABLE, f"{self.where}: the hub's answer cannot be understood"
        )

    def _range(self, name: str, pin: Stamp, begin: int, end: int) -> memoryview:
        what = f"{self.where}/{name}"
        path = f"{self._folder}/{name}" if self._folder else name
        hub = f"{self._hub}/{self._repository}/resolve/{self._commit}/{quote(path)}"
        headers, room = {"Range": f"bytes={begin}-{end - 1}"}, self.memory(end - begin)
        # The hub counts requests; where it sent us is good for many ranges.
        known, pin = self._found.get(name), Stamp(pin.bytes, "")  # whatever ETag a host gives
        if known is not None:
            answer = self._http.ask("GET", known, what, headers=headers, room=room)
            if answer.status not in _EXPIRED:
                return ranged(answer, what, pin, begin, end)
            with self._found_lock:
                self._found.pop(name, None)
        answer = self._http.ask("GET", hub, what, headers=headers, room=room)
        data = ranged(answer, what, pin, begin, end)
        if origin(answer.url) != origin(self._hub):
            with self._found_lock:
                self._found[name] = answer.url
        return data


def _token(where: str) -> Mapping[str, str]:
    token = os.environ.get("HF_TOKEN", "")
    path = os.environ.get("HF_TOKEN_PATH", "")
    if not token and path:
        try:
            token = Path(path).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise WeightsError(
                Reason.SOURCE_DENIED,
                f"{where}: the file of HF_TOKEN_PATH cannot be read ({type(error).__name__})",
            ) from None
    return {"Authorization": f"Bearer {token}"} if token else {}
