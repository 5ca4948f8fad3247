"""Addresses as everybody reads them: an IPv6 address stands in brackets before its port."""

import ipaddress


def with_port(host: str, port: int) -> str:
    """`host` as pods have it: a name, an IPv4 address, or an IPv6 address without brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def with_brackets(bind: str) -> str:
    """HOST:PORT with the brackets that a template such as $(POD_IP):9610 leaves out; anything else as it is."""
    host, _, port = bind.rpartition(":")
    if ":" not in host or host.startswith("[") or not port.isdecimal():
        return bind
    return with_port(host, int(port))


def is_loopback(host: str) -> bool:
    """127.x, ::1 with or without brackets, localhost. Any other name may lead anywhere."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
