"""Build the S3 server and fetch the aws command ahead of the tests: python -m objectstore; with the word clouds, the two other servers."""

import sys

from objectstore import awscli
from objectstore.build import azurite_command, google_binary, server_binary

if "clouds" in sys.argv:
    print(google_binary(), *azurite_command())
else:
    print(server_binary(), awscli.fetch())
