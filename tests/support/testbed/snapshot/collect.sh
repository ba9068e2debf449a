# Runs once in a node and prints everything its own tools know, each section after its name.
# The separators are characters that no tool prints.

section() {
    printf '\036%s\037' "$1"
    shift
    "$@" || { echo "snapshot: '$*' failed" >&2; exit 1; }
}

sysctls() {
    # -Z: a value may contain any character, so the name ends with a NUL. Unreadable ones are left out.
    grep --recursive --no-messages --text -Z '' /proc/sys
    true
}

section units systemctl show --no-pager '*' \
    --property=Id,LoadState,ActiveState,SubState,NeedDaemonReload,DropInPaths,FragmentPath
section links ip -json -details link
section addresses ip -json address
section routes4 ip -json -details -4 route show table all
section routes6 ip -json -details -6 route show table all
section rules4 ip -json -4 rule
section rules6 ip -json -6 rule
section neighbours ip -json neighbour show nud permanent
section nft nft --stateless list ruleset
section iptables iptables-save
section ip6tables ip6tables-save
section iptables-legacy iptables-legacy-save
section ip6tables-legacy ip6tables-legacy-save
section sysctls sysctls
