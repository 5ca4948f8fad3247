"""Whatever the layout and dtype: what arrives is what torch's own copy writes, and nothing else."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs torch: make test-transfer")

import torch

from transfercore.layouts import FLOATS, LAYOUTS, OTHERS, Shape, lay_out, same_bytes
from transfercore.lazystream import LazyStream
from weightrollout.plugin.transfer import Pair, Ring, Transfer

dtypes = st.one_of(
    st.tuples(st.sampled_from(FLOATS), st.sampled_from(FLOATS)),
    st.sampled_from(FLOATS + OTHERS).map(lambda dtype: (dtype, dtype)),
)
shapes = st.builds(
    lambda sizes, dtype, *rest: Shape(tuple(sizes), *dtype, *rest),
    st.lists(st.integers(0, 33), max_size=3),
    dtypes,
    st.sampled_from(LAYOUTS),
    st.sampled_from(LAYOUTS),
    st.integers(0, 3),
)
many = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


def arrives(listed: list[Shape], seed: int, **how: object) -> None:
    laid = [lay_out(shape, seed + index) for index, shape in enumerate(listed)]
    expected = [each.expected() for each in laid]
    transfer = Transfer.prepare([each.pair for each in laid], threads=2, **how)  # type: ignore[arg-type]
    try:
        transfer.run()
    finally:
        transfer.close()
    for shape, each, wanted in zip(listed, laid, expected, strict=True):
        assert same_bytes(each.around, wanted), shape


@pytest.mark.slow
@many
@given(st.lists(shapes, max_size=6), st.integers(0, 2**32), st.booleans())
def test_live_tensors_equal_torchs_copy_bit_for_bit(
    listed: list[Shape], seed: int, streaming: bool
) -> None:
    arrives(listed, seed, streaming=streaming)


@pytest.mark.slow
@many
@given(
    st.lists(shapes, max_size=6),
    st.integers(0, 2**32),
    st.integers(1, 3),
    st.sampled_from([64, 192, 4096, 1 << 20]),
)
def test_through_a_ring_whose_buffers_are_smaller_than_the_tensors(
    listed: list[Shape], seed: int, slots: int, slot_bytes: int
) -> None:
    buffers = [torch.zeros(slot_bytes, dtype=torch.uint8) for _ in range(slots)]
    arrives(listed, seed, ring=Ring(buffers, LazyStream()))


@pytest.mark.slow
@pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "memmove"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_tensors_of_many_pieces(streaming: bool, threads: int) -> None:
    """Odd lengths and odd addresses, over and under the size of a piece."""
    memory = torch.randint(0, 256, (48 << 20,), dtype=torch.uint8)
    live, staged = memory[: 24 << 20], memory[24 << 20 :]
    cuts = [0, 1, 64, 65_600, 8 << 20, (16 << 20) + 7, (24 << 20) - 1]
    spans = list(itertools.pairwise(cuts))
    pairs = [Pair(live[begin + 1 : end], staged[begin + 1 : end]) for begin, end in spans]
    wanted = live.clone()
    for begin, end in spans:
        wanted[begin + 1 : end] = staged[begin + 1 : end]
    transfer = Transfer.prepare(pairs, threads=threads, streaming=streaming)
    transfer.run()
    transfer.close()
    assert transfer.nbytes == sum(pair.source.numel() for pair in pairs)
    assert torch.equal(live, wanted)


def test_a_second_run_brings_what_the_image_holds_then() -> None:
    live, staged = torch.zeros(1000), torch.ones(1000)
    transfer = Transfer.prepare([Pair(live, staged)])
    transfer.run()
    staged.fill_(2)
    transfer.run()
    transfer.close()
    assert torch.equal(live, torch.full((1000,), 2.0))


def test_parameters_that_want_gradients_and_tensors_of_inference_mode_are_filled() -> None:
    wants = torch.nn.Parameter(torch.zeros(4, 4))
    with torch.inference_mode():
        inference, strided = torch.zeros(4), torch.zeros(4, 4).t()
    pairs = [Pair(wants, torch.ones(4, 4).t()), Pair(inference, torch.ones(4))]
    transfer = Transfer.prepare([*pairs, Pair(strided, torch.ones(4, 4))])
    transfer.run()
    transfer.close()
    assert all(bool((live == 1).all()) for live in (wants, inference, strided))


def test_parameters_of_a_subclass_with_its_own_behaviour_are_filled() -> None:
    """As vLLM's are: they may intercept every function of torch."""

    class Proud(torch.nn.Parameter):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, *_: object, **__: object) -> None:
            raise AssertionError("nobody calls me")

    with torch._C.DisableTorchFunctionSubclass():
        live = Proud(torch.zeros(3), requires_grad=False)
    transfer = Transfer.prepare([Pair(live, torch.ones(3))])
    transfer.run()
    transfer.close()
    with torch._C.DisableTorchFunctionSubclass():
        assert live.tolist() == [1, 1, 1]


def test_lazy_views_of_complex_numbers_are_copied_as_the_values_they_stand_for() -> None:
    """Their memory holds the conjugate; so it does for a negated imaginary part."""
    staged = torch.randn(5, dtype=torch.complex64)
    conjugate, negative = torch.zeros(5, dtype=torch.complex64), torch.zeros(5)
    pairs = [Pair(conjugate, staged.conj()), Pair(negative, staged.conj().imag)]
    transfer = Transfer.prepare(pairs)
    transfer.run()
    transfer.close()
    assert torch.equal(conjugate, staged.conj().resolve_conj())
    assert torch.equal(negative, -staged.imag)
