"""A byte-level tokenizer without merges: one token per byte, so every prompt works and needs no download."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

BYTES: Final = 256
END: Final = "<eos>"
END_ID: Final = BYTES
#: Of the tiny models: the bytes, the end, and fillers up to a multiple of 16, which packed layouts want.
TINY_VOCABULARY: Final = 272


def save_tokenizer(folder: Path, vocabulary: int = TINY_VOCABULARY) -> None:
    """Write it with one entry for each of the model's `vocabulary` ids, so that each can be decoded."""
    entries = {char: at for at, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    entries[END] = END_ID
    entries |= {f"<filler-{at}>": at for at in range(END_ID + 1, vocabulary)}
    tokenizer = Tokenizer(models.BPE(vocab=entries, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)
    wrapped.save_pretrained(folder)
