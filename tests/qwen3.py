"""The tensors of a Qwen3 checkpoint: names, dtypes and shapes. Standard library only."""

from collections.abc import Mapping

Shapes = Mapping[str, tuple[str, tuple[int, ...]]]


def qwen3_shapes(
    *, hidden: int, layers: int, heads: int, kv_heads: int, head_dim: int, mlp: int, vocab: int
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The BF16 tensors of a Qwen3 with an untied head, in the order in which they are published."""
    shapes: dict[str, tuple[int, ...]] = {
        "lm_head.weight": (vocab, hidden),
        "model.embed_tokens.weight": (vocab, hidden),
    }
    for layer in range(layers):
        at = f"model.layers.{layer}"
        shapes |= {
            f"{at}.input_layernorm.weight": (hidden,),
            f"{at}.mlp.down_proj.weight": (hidden, mlp),
            f"{at}.mlp.gate_proj.weight": (mlp, hidden),
            f"{at}.mlp.up_proj.weight": (mlp, hidden),
            f"{at}.post_attention_layernorm.weight": (hidden,),
            f"{at}.self_attn.k_norm.weight": (head_dim,),
            f"{at}.self_attn.k_proj.weight": (kv_heads * head_dim, hidden),
            f"{at}.self_attn.o_proj.weight": (hidden, heads * head_dim),
            f"{at}.self_attn.q_norm.weight": (head_dim,),
            f"{at}.self_attn.q_proj.weight": (heads * head_dim, hidden),
            f"{at}.self_attn.v_proj.weight": (kv_heads * head_dim, hidden),
        }
    shapes["model.norm.weight"] = (hidden,)
    return {name: ("BF16", shape) for name, shape in shapes.items()}


def qwen3_06b_shapes() -> dict[str, tuple[str, tuple[int, ...]]]:
    """The reference payload: Qwen3-0.6B with its untied head, 311 tensors, 1,503,264,768 bytes."""
    return qwen3_shapes(
        hidden=1024, layers=28, heads=16, kv_heads=8, head_dim=128, mlp=3072, vocab=151_936
    )
