"""`kubectl weightrollout sign`: put one's name to the files of a checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from weightrollout.api.signature import SIGNATURE_FILE
from weightrollout.cli.hashing import folder_of, refuse, sums_of
from weightrollout.weights.bundles import NotSigned, signature_of
from weightrollout.weights.digest import digest_from_sums


def sign(
    path: Annotated[
        str,
        typer.Argument(
            help="Folder with the checkpoint, or its URI: file:///, s3://, gs://, az://, https://, hf://.",
            metavar="PATH",
        ),
    ],
    key: Annotated[Path, typer.Option(help="PEM of the private key: EC on P-256, P-384 or P-521.")],
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="PEM of the signer's certificate, for spec.weights.signature.authorities."
        ),
    ] = None,
    chain: Annotated[
        Path | None,
        typer.Option(
            help="PEM of the certificates between that and its authority, if there are any."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help=f"Default: {SIGNATURE_FILE} in the folder; needed for a URI."
        ),
    ] = None,
) -> None:
    """Sign the files of a checkpoint folder.

    An OpenSSF model signature of those files that count for the digest, for spec.weights.signature: agents refuse weights of which
    one was added, changed or is missing. The digest goes to stdout, nothing else. Of a URI all bytes are read, with the
    credentials of whoever calls, and nothing is written there: upload the signature beside the weights. The password of
    a key, without --certificate, is read from WEIGHTROLLOUT_KEY_PASSWORD. Who signs without a key, by Sigstore, uses 'model_signing sign'.

    \b
    Examples:
      kubectl weightrollout sign /models/chat/step-1200 --key release.key
      kubectl weightrollout sign s3://models/chat/step-1200/ --key release.key -o model.sig
      openssl ecparam -name prime256v1 -genkey -noout -out release.key
      openssl ec -in release.key -pubout -out release.pub

    \b
    Exit codes:
      0    signed
      2    wrong usage, no safetensors there that can be read, or no key that can sign
      130  interrupted
    """
    if chain is not None and certificate is None:
        refuse("--chain is of a --certificate: give that too")
    folder = folder_of(path)
    target = output or (folder / SIGNATURE_FILE if folder is not None else None)
    if target is None:
        refuse(f"{path}: nothing is written there: say by --output where the signature goes")
    sums = sums_of(path)
    name = path.rstrip("/").rpartition("/")[2] or "weights"
    try:
        target.write_bytes(signature_of(sums, name, key, certificate, chain))
    except NotSigned as wrong:
        refuse(str(wrong))
    except OSError as wrong:
        refuse(f"{wrong.filename or target}: {wrong.strerror or wrong}")
    print(digest_from_sums(sums))
