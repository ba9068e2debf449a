#!/bin/sh
# What others than Kubernetes have on a host, with names that end in $1: Docker, Podman, libvirt, an administrator.
# Synthetic but for the container: the names are theirs.
set -e
name="$1" number="$2" image="$3"

ip link add "docker$number" type bridge
ip link add "cni-podman$number" type bridge
ip link add "virbr$number" type bridge
ip link set "virbr$number" up

iptables -N "DOCKER-$name"
iptables -A FORWARD -o "docker$number" -j "DOCKER-$name"
iptables -t nat -N "DOCKER-$name"
iptables -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j "DOCKER-$name"
iptables -t nat -N "NETAVARK-$name"
iptables -t nat -A POSTROUTING -s 10.88.0.0/16 -j "NETAVARK-$name"
iptables -N "LIBVIRT_$name"
iptables -A FORWARD -o "virbr$number" -j "LIBVIRT_$name"
# Podman before version 4, with the plugins that pods use.
iptables -t nat -N "CNI-$name"
iptables -t nat -A "CNI-$name" -j MASQUERADE -m comment --comment "name: \"podman\" id: \"$name\""
iptables -t nat -A POSTROUTING -s 10.88.0.9 -j "CNI-$name" -m comment --comment "name: \"podman\" id: \"$name\""
nft -f - <<RULES
table inet netavark-$name {
    chain FORWARD { type filter hook forward priority 0; policy accept; counter; }
}
RULES

ip netns add "$name"
ip netns add "netns-4f1c2d3e-$name"
ip netns add "cni-4f1c2d3e-$name" # Podman before version 4
mkdir -p "/var/lib/cni/networks/podman-$name"
touch "/var/lib/cni/networks/podman-$name/10.88.0.9"
mkdir -p "/var/lib/cni/networks/nerdctl-$name"

mkdir -p "/var/lib/kubelet/$name" "/var/lib/kubelet/$name-busy"
echo "tmpfs /var/lib/kubelet/$name tmpfs defaults 0 0" >>/etc/fstab
systemctl daemon-reload
mount "/var/lib/kubelet/$name"
echo kept >"/var/lib/kubelet/$name/file"
mount -t tmpfs "$name" "/var/lib/kubelet/$name-busy"
systemd-run --quiet --unit="busy-$name" --working-directory="/var/lib/kubelet/$name-busy" sleep infinity

mkdir -p /etc/kubernetes/pki "/var/lib/kubelet/$name-deep/below"
echo kept >"/etc/kubernetes/$name.txt"
echo kept >"/etc/kubernetes/pki/$name.txt"
mount -t tmpfs "$name-deep" "/var/lib/kubelet/$name-deep/below"
echo kept >"/var/lib/kubelet/$name-deep/below/file"

ctr --namespace "$name" images import "$image"
ctr --namespace "$name" run --detach kubexm.test/greeter:1 theirs
