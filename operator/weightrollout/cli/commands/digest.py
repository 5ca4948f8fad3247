"""`kubectl weightrollout digest`: the name of a checkpoint's content, for spec.weights.digest."""

from typing import Annotated

import typer

from weightrollout.cli.hashing import sums_of
from weightrollout.weights.digest import digest_from_sums


def digest(
    path: Annotated[
        str,
        typer.Argument(
            help="Folder with the checkpoint, or its URI: file:///, s3://, gs://, az://, https://, hf://.",
            metavar="PATH",
        ),
    ],
) -> None:
    """Print the digest of a checkpoint folder.

    Nothing else is on stdout. Only files that an engine reads count, so that a README changes nothing. Anyone can check it: it is
    the sha256 of what sha256sum prints over these files. Of a URI all bytes are read, with the credentials of whoever calls.

    \b
    Examples:
      kubectl weightrollout digest /models/chat/step-1200
      kubectl weightrollout digest s3://models/chat/step-1200/
      kubectl patch wr chat --type merge -p \\
        '{"spec":{"weights":{"version":"1200","uri":"file:///models/chat/step-1200/",
          "digest":"'$(kubectl weightrollout digest /models/chat/step-1200)'"}}}'

    Whose weights they are is another question: see sign.

    \b
    Exit codes:
      0    printed
      2    wrong usage, or no safetensors there that can be read
      130  interrupted
    """
    print(digest_from_sums(sums_of(path)))
