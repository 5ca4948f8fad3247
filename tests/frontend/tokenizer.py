"""A tokenizer of bytes, so that a core behind the frontend can read prompts and answer words.

Token i is byte i. Both sides of it are here: the files that the frontend loads, and the same in
Python for the core.
"""

import json
from pathlib import Path
from typing import Final

BYTES: Final = 256
END: Final = "<|end|>"  # never produced; the frontend wants an end token to exist


def write_tokenizer(folder: Path) -> Path:
    """The folder with what the frontend reads: `tokenizer.json` and its configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END})
    )
    return folder


def encode(text: str) -> list[int]:
    return list(text.encode())


def decode(tokens: list[int]) -> str:
    return bytes(token for token in tokens if token < BYTES).decode(errors="replace")


def _tokenizer() -> dict[str, object]:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    vocabulary = {letter: byte for byte, letter in enumerate(_letters())}
    end = {"id": BYTES, "content": END, "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{**end, **flags}],
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": False},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": False},
        "model": {"type": "BPE", "vocab": {**vocabulary, END: BYTES}, "merges": []},
    }


def _letters() -> list[str]:
    """How byte-level vocabularies spell each byte: printable ones as they are, the rest from U+0100."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(spare)) for byte in range(BYTES)]
