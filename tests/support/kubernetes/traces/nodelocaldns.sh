#!/bin/sh
# Synthetic: not NodeLocal DNSCache, but what its version 1.26.7 makes. The kernel of the testbed has no dummy links: it
# is a bridge.
set -e
ip link add nodelocaldns type bridge
ip addr add 169.254.20.10/32 dev nodelocaldns
iptables -t raw -I PREROUTING -p udp -d 169.254.20.10 --dport 53 -j NOTRACK \
    -m comment --comment "NodeLocal DNS Cache: skip conntrack"
iptables -t raw -I OUTPUT -p udp -s 169.254.20.10 --sport 53 -j NOTRACK \
    -m comment --comment "NodeLocal DNS Cache: skip conntrack"
iptables -I INPUT -p udp -d 169.254.20.10 --dport 53 -j ACCEPT \
    -m comment --comment "NodeLocal DNS Cache: allow DNS traffic"
