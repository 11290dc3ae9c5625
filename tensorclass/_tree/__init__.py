"""Where tensors sit: nodes, leaves, the walk over them, the batch contract."""
