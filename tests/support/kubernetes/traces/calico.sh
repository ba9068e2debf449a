#!/bin/sh
# Synthetic: not Calico, but objects with the names that Calico v3.32.1 gives them. The kernel of the testbed has no
# ipip, and its nodes no ipset.
set -e
ip link add vxlan.calico type vxlan id 4096 dstport 4790
ip link set vxlan.calico up
ip link add cali0123456789a type bridge
ip route add 10.250.1.0/26 dev vxlan.calico proto 80
ip route add blackhole 10.250.2.0/26 proto 80
ip -6 route add blackhole fd00:250:2::/122 proto 80
for tool in iptables ip6tables; do
    $tool -N cali-FORWARD
    $tool -I FORWARD -m comment --comment cali:wUHhoiAYhphO9Mso -j cali-FORWARD
    $tool -A FORWARD -m comment --comment cali:S93hcgKJrXEqnTfs -m comment --comment "Policy explicitly accepted packet." \
        -m mark --mark 0x10000/0x10000 -j ACCEPT
done
iptables -t nat -N cali-POSTROUTING
iptables -t nat -I POSTROUTING -m comment --comment cali:O3lYWMrLQYEMJtB5 -j cali-POSTROUTING
nft -f - <<RULES
table ip calico {
    set cali40s { type ipv4_addr; }
    chain filter-FORWARD { type filter hook forward priority 0; ip saddr @cali40s accept; }
}
RULES
mkdir -p /etc/cni/net.d/calico-tls /opt/cni/bin /run/calico/cgroup /var/lib/calico /var/log/calico/cni
touch /etc/cni/net.d/10-calico.conflist /etc/cni/net.d/calico-kubeconfig /opt/cni/bin/calico /opt/cni/bin/portmap
touch /etc/cni/net.d/calico-tls/etcd-ca /var/lib/calico/nodename /run/calico/nodename /var/log/calico/cni/cni.log
mount -t tmpfs cgroup /run/calico/cgroup
