"""Build the S3 server ahead of the tests: python -m objectstore; with the word clouds, the two others."""

import sys

from objectstore.build import azurite_command, google_binary, server_binary

if "clouds" in sys.argv:
    print(google_binary(), *azurite_command())
else:
    print(server_binary())
