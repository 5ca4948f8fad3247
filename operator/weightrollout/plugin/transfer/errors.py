"""What is known when a transfer does not succeed.

TransferError
|-- PairRefused      prepare said no: nothing was touched, nothing can be run
|-- TargetMoved      run said no before its first byte: the live tensors hold what they held
`-- TransferFailed   run ended in the middle: the live tensors hold old and new bytes, and those of the
                     next complete run. No thread and no device writes any more.
"""


class TransferError(Exception):
    """Base of all errors of this room."""


class PairRefused(TransferError):
    """These tensors cannot be paired; the message names them."""


class TargetMoved(TransferError):
    """A live tensor is not where it was when the transfer was prepared. Nothing was written."""


class TransferFailed(TransferError):
    """Some bytes were written and some were not."""
