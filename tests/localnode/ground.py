"""What tests see of a cluster with real pods, whichever it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from localcluster.access import Cluster


class Ground(Cluster):
    """A cluster whose node runs images."""

    @property
    @abstractmethod
    def shared(self) -> Path:
        """A folder of this machine that is at the same path of the node, for volumes of type hostPath."""

    @abstractmethod
    async def import_images(self, archives: Mapping[str, Path]) -> None:
        """OCI archives, by the names that pods will use for them (`imagePullPolicy: Never`)."""

    @abstractmethod
    async def kill_container(self, container: str) -> None:
        """SIGKILL for the first process of a container, by the id in its status; that process cannot ignore it."""
