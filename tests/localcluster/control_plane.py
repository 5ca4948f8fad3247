"""Where a control plane listens, and whether real kubelets belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: The first address of --service-cluster-ip-range: the Service "kubernetes".
SERVICE_ADDRESS: Final = "10.96.0.1"


@dataclass(frozen=True)
class ControlPlane:
    """`address` None: on 127.0.0.1 only, and no pod reaches it by its Service; `port` None: a free one."""

    address: str | None = None
    port: int | None = None
    ready_s: float = (
        60.0  # it takes 5 to 10; the rest is for a machine that is busy with other tests
    )

    def address_flags(self) -> tuple[str, ...]:
        """Of the API server."""
        if self.address is None:
            return (
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                "--endpoint-reconciler-type=none",  # Endpoints refuse loopback addresses
            )
        return ("--bind-address=0.0.0.0", f"--advertise-address={self.address}")

    def kubelet_flags(self, pki: Path) -> tuple[str, ...]:
        """Of the API server: how it reaches kubelets, for logs, exec and port-forward."""
        if self.address is None:
            return ()
        return (
            f"--kubelet-client-certificate={pki / 'to-kubelets.crt'}",
            f"--kubelet-client-key={pki / 'to-kubelets.key'}",
            "--kubelet-preferred-address-types=InternalIP",  # no name of a node resolves here
        )

    def hosts(self) -> tuple[str, ...]:
        """What the API server's certificate is for."""
        names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost")
        own = () if self.address is None else (self.address,)
        return ("127.0.0.1", SERVICE_ADDRESS, *names, *own)


LOOPBACK_ONLY: Final = ControlPlane()
