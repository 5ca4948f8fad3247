"""Recipes for checkpoints that a real vLLM serves on CPU: from a seed to a folder, nothing downloaded.

Runs inside vLLM's virtual environment (torch, transformers, tokenizers, safetensors). One recipe always gives the same shapes;
the seed gives the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from realvllm.recipes import (
    dense_models,
    drafts,
    expert_models,
    payload,
    quantised_models,
    state_models,
)
from realvllm.recipes.writing import Recipe

RECIPES: Final[Mapping[str, Recipe]] = {
    **dense_models.RECIPES,
    **expert_models.RECIPES,
    **state_models.RECIPES,
    **quantised_models.RECIPES,
    **drafts.RECIPES,
    **payload.RECIPES,
}
