"""Ours, the same by hand, and the peer (tensordict), side by side: `python -m benchmarks`."""
