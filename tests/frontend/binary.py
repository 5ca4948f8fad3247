"""`vllm-rs` out of the pinned wheel of vLLM, of which 61 MB are kept."""

from pathlib import Path
from typing import Final

from wheelmember import Member

VLLM_RS: Final = Member(
    *("vllm", "0.33.0", "vllm/vllm-rs"),
    sha256={"x86_64": "ee53a9eec77b858799f7526ad0f284df808d9350b8b4d6f1754583f9f8782c62"},
    wheel_mb=336,
    name="vllm-rs",
    kept_as="vllm-rs",
)


def frontend_binary() -> Path:
    """Fetched now if the cache has none. Raises FetchFailed."""
    return VLLM_RS.fetched()
