"""Configuration files of containerd, CNI, kubelet and kube-proxy, in the state folder of one node."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from localnode.addresses import BRIDGE, NODE_NAME, POD_ADDRESSES

PAUSE_IMAGE: Final = "localhost/pause:1"
#: A file of the state folder: the control plane is up, and its kubeconfig is whole.
UP: Final = "up"
#: containerd's name for what belongs to the kubelet.
CONTAINERD_NAMESPACE: Final = "k8s.io"


@dataclass(frozen=True)
class Settings:
    """Of one node; `plugins` is the folder with the CNI programs, `logs` takes the logs of containers."""

    state: Path
    logs: Path
    plugins: Path

    @property
    def socket(self) -> Path:
        """Of containerd. A path, so that it can be reached from outside the node's network, too."""
        return self.state / "containerd.sock"

    @property
    def kubelet_access(self) -> Path:
        """The kubelet's kubeconfig."""
        return self.state / "kubelet.kubeconfig"

    @property
    def proxy_access(self) -> Path:
        """kube-proxy's kubeconfig."""
        return self.state / "kube-proxy.kubeconfig"

    def write(self) -> None:
        """All files; the kubeconfigs are the control plane's matter."""
        (self.state / "containerd.toml").write_text(self._containerd())
        (self.state / "cni").mkdir(exist_ok=True)
        (self.state / "cni" / "10-pods.conflist").write_text(json.dumps(self._network()))
        (self.state / "kubelet.yaml").write_text(yaml.safe_dump(self._kubelet()))
        (self.state / "kube-proxy.yaml").write_text(yaml.safe_dump(self._proxy()))

    def _containerd(self) -> str:
        # restrict_oom_score_adj: without CAP_SYS_RESOURCE no sandbox starts otherwise ("can't get final child's PID").
        return f"""\
version = 2
root = "{self.state}/containerd"
state = "/run/containerd"
[grpc]
  address = "{self.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{self.plugins}"
    conf_dir = "{self.state}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""

    def _network(self) -> dict[str, Any]:
        bridge = {
            "type": "bridge",
            "bridge": BRIDGE,
            "isGateway": True,
            "ipMasq": True,
            "hairpinMode": True,  # a pod may be answered by itself through a Service
            "ipam": {
                "type": "host-local",
                "ranges": [[{"subnet": POD_ADDRESSES}]],
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        }
        ports = {"type": "portmap", "capabilities": {"portMappings": True}}
        return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge, ports]}

    def _kubelet(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "cgroupDriver": "cgroupfs",
            "containerRuntimeEndpoint": f"unix://{self.socket}",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(self.state / "control-plane" / "pki" / "ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            # A full disk of the machine is not the tests' matter: "0%" switches a signal off.
            "evictionHard": {
                "memory.available": "50Mi",
                "nodefs.available": "0%",
                "nodefs.inodesFree": "0%",
                "imagefs.available": "0%",
                "imagefs.inodesFree": "0%",
            },
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            "nodeStatusUpdateFrequency": "2s",
            "syncFrequency": "5s",  # how late a mounted ConfigMap may be
            "oomScoreAdj": 0,
            "resolvConf": "",
            "podLogsDir": str(self.logs / "pods"),
            "volumePluginDir": str(self.state / "volume-plugins"),
        }

    def _proxy(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": NODE_NAME,
            "clusterCIDR": POD_ADDRESSES,
            "clientConnection": {"kubeconfig": str(self.proxy_access)},
            "conntrack": {"maxPerCore": 0, "min": 0},  # those are the whole machine's
            "iptables": {"minSyncPeriod": "0s", "syncPeriod": "30s"},
            "oomScoreAdj": 0,
        }
