//go:build tools

// Names the programs of nodes, which are built from Kubernetes's own packages, for go.mod and go.sum.
package main

import (
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kubeadm"
	_ "k8s.io/kubernetes/cmd/kubelet"
)
