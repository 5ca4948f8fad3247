"""What a load gives back is what the next one takes: the kernel hands out no page twice in a pause."""

import ctypes
import resource
from typing import Final

import pytest

from weightrollout.plugin import heap

SIZE: Final = 256 << 20  # bytes; far above what glibc would ever keep by itself


@pytest.fixture(scope="module")
def libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        pytest.skip("this C library has no mallopt: what is tested is glibc's")
    library.malloc.restype = ctypes.c_void_p
    library.malloc.argtypes = [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    return library


def faults_of_a_load(libc: ctypes.CDLL) -> int:
    """Pages that the kernel handed out while `SIZE` bytes were taken, written and given back."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    memory = libc.malloc(SIZE)
    assert memory
    ctypes.memset(memory, 1, SIZE)
    libc.free(memory)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_second_load_takes_the_pages_of_the_first(libc: ctypes.CDLL) -> None:
    with heap.reused():
        first, second = faults_of_a_load(libc), faults_of_a_load(libc)
    assert second < first / 20


def test_afterwards_memory_goes_back_to_the_kernel(libc: ctypes.CDLL) -> None:
    with heap.reused():
        first = faults_of_a_load(libc)
    faults_of_a_load(libc)  # may still find what was kept
    assert faults_of_a_load(libc) > first / 2


def test_memory_goes_back_where_the_load_failed(libc: ctypes.CDLL) -> None:
    usual = faults_of_a_load(libc)
    with pytest.raises(ZeroDivisionError), heap.reused():
        _ = faults_of_a_load(libc) // 0
    faults_of_a_load(libc)
    assert faults_of_a_load(libc) > usual / 2
