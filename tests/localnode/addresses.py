"""Names and addresses of the node, seen by nobody outside its network namespace."""

from typing import Final

NODE_NAME: Final = "node-0"
NODE_ADDRESS: Final = "10.88.0.1"
POD_ADDRESSES: Final = "10.244.0.0/24"
#: Must differ from what `localcluster` uses for Services, 10.96.0.0/16.
BRIDGE: Final = "pods0"
