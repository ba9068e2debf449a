"""Real systemd nodes and a real Kubernetes on one machine, for tests and for ./dev."""
