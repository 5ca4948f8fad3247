"""How a call ends that did not succeed."""


class Failed(Exception):
    """Ends a call with an HTTP status and one object."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
