"""WeightRollout: new model weights for running vLLM pods, in place."""

__version__ = "0.1.0"
