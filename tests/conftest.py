"""What the folders of tests share."""

pytest_plugins = ["cluster_fixtures"]
