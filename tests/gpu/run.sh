#!/usr/bin/env bash
# The transfer core on this machine's GPU. PYTHON: one that has torch with CUDA (default python3).
# The first argument, if any: where the raw figures go (default build/gpu.json).
set -euo pipefail
cd "$(dirname "$0")/../.."
out="${1:-build/gpu.json}"
mkdir -p "$(dirname "$out")"
PYTHONPATH=operator:tests exec "${PYTHON:-python3}" -m gpu "$out"
