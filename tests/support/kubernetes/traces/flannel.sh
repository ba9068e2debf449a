#!/bin/sh
# Synthetic: not Flannel, but objects with the names that Flannel v0.28.9 gives them.
set -e
ip link add flannel.1 type vxlan id 1 dstport 8472
ip link set flannel.1 up
ip route add 10.252.1.0/24 dev flannel.1
iptables -t nat -N FLANNEL-POSTRTG
iptables -t nat -A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
iptables -t nat -A FLANNEL-POSTRTG -s 10.252.0.0/16 -m comment --comment "flanneld masq" -j RETURN
iptables -N FLANNEL-FWD
iptables -A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD
nft -f - <<RULES
table ip flannel-ipv4 {
    chain postrtg { type nat hook postrouting priority srcnat; counter; }
}
RULES
mkdir -p /etc/cni/net.d /opt/cni/bin /run/flannel
touch /etc/cni/net.d/10-flannel.conflist /opt/cni/bin/flannel /run/flannel/subnet.env
