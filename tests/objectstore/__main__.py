"""Build the S3 server ahead of the tests: python -m objectstore"""

from objectstore.build import server_binary

print(server_binary())
