"""What kstatus and Argo CD make of a WeightRollout, by their own code."""
