"""What an option of inject says, --agent-arg must not say, too."""

from typing import Final

from weightrollout.cli.inject import signatures, trainers
from weightrollout.cli.inject.report import Options, Reason, Refused

#: Always said by inject: a pod's engine is prepared for one protocol.
PROTOCOL: Final = ("--engine-protocol", "--engine-token-file", "--engine-sidecar")


def refuse(options: Options) -> None:
    """Raises Refused."""
    ours: dict[str, tuple[str, ...]] = {
        trainers.DRIVES: (trainers.DRIVES,) if options.trainer_drives else (),
        "--trainer-token-secret": trainers.TRAINERS if options.trainer_token is not None else (),
        "--agent-tls-secret": trainers.CERTIFICATE if options.tls_secret else (),
        "--engine-protocol": PROTOCOL,
        signatures.OPTION: (signatures.OPTION,) if options.trusted_root is not None else (),
    }
    for option, flags in ours.items():
        for given in options.agent_args:
            if given.partition("=")[0] in flags:
                raise Refused(
                    Reason.FLAG_CONFLICT,
                    f"--agent-arg={given} beside {option}: both say it",
                    "leave one of them out",
                )
