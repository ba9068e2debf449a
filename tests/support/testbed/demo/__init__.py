"""The demo: a machine becomes a node of a real cluster, and a machine again, explained step by step."""
