#!/bin/sh
# Synthetic: not Cilium, but objects with the names that Cilium v1.20.1 gives them. Nodes of the testbed have no bpffs.
set -e
ip link add cilium_host type veth peer name cilium_net
ip link set cilium_host up
ip link add cilium_vxlan type vxlan id 2 dstport 8473
ip link add lxc_health type bridge
ip route add 10.251.1.0/24 dev cilium_host
for tool in iptables ip6tables; do
    $tool -N CILIUM_FORWARD
    $tool -I FORWARD -m comment --comment "cilium-feeder: CILIUM_FORWARD" -j CILIUM_FORWARD
    $tool -A CILIUM_FORWARD -o cilium_host -m comment --comment "cilium: any->cluster on cilium_host forward accept" -j ACCEPT
    $tool -t raw -N OLD_CILIUM_PRE_raw
    $tool -t raw -I PREROUTING -j OLD_CILIUM_PRE_raw
done
mkdir -p /etc/cni/net.d /opt/cni/bin /run/cilium/state /run/cilium/cgroupv2 /var/lib/cilium
touch /etc/cni/net.d/05-cilium.conflist /opt/cni/bin/cilium-cni /opt/cni/bin/loopback /run/cilium/state/1
mount -t tmpfs cgroup /run/cilium/cgroupv2
