#include "daemon/executor/host/packet_filter.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <libnftnl/chain.h>
#include <libnftnl/expr.h>
#include <libnftnl/gen.h>
#include <libnftnl/rule.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

using Numbered = std::pair<std::uint8_t, const char*>;
constexpr std::array kFamilies{
    Numbered(NFPROTO_IPV4, "ip"),       Numbered(NFPROTO_IPV6, "ip6"),
    Numbered(NFPROTO_INET, "inet"),     Numbered(NFPROTO_ARP, "arp"),
    Numbered(NFPROTO_BRIDGE, "bridge"), Numbered(NFPROTO_NETDEV, "netdev")};
constexpr std::size_t kMaxNames = 4096;  // bytes; there are five legacy tables

struct FreeObject {
    void operator()(nftnl_gen* generation) const { ::nftnl_gen_free(generation); }
    void operator()(nftnl_table* table) const { ::nftnl_table_free(table); }
    void operator()(nftnl_chain* chain) const { ::nftnl_chain_free(chain); }
    void operator()(nftnl_rule* rule) const { ::nftnl_rule_free(rule); }
};
template <typename Object>
using Owned = std::unique_ptr<Object, FreeObject>;

std::string text(const char* found) { return found == nullptr ? std::string() : found; }

const nlmsghdr* header_of(const std::string& message) {
    return reinterpret_cast<const nlmsghdr*>(message.data());
}

// A message that libnftnl does not understand to its end, such as a rule with an expression of a
// newer kernel, has at least its names: they come first.

FilterTable table_from(const char* family, const nlmsghdr* message) {
    const Owned<nftnl_table> table(::nftnl_table_alloc());
    ::nftnl_table_nlmsg_parse(message, table.get());
    return {family, text(::nftnl_table_get_str(table.get(), NFTNL_TABLE_NAME)),
            ::nftnl_table_get_u32(table.get(), NFTNL_TABLE_USE)};
}

FilterChain chain_from(const char* family, const nlmsghdr* message) {
    const Owned<nftnl_chain> chain(::nftnl_chain_alloc());
    ::nftnl_chain_nlmsg_parse(message, chain.get());
    return {family, text(::nftnl_chain_get_str(chain.get(), NFTNL_CHAIN_TABLE)),
            text(::nftnl_chain_get_str(chain.get(), NFTNL_CHAIN_NAME)),
            ::nftnl_chain_is_set(chain.get(), NFTNL_CHAIN_HOOKNUM),
            ::nftnl_chain_get_u32(chain.get(), NFTNL_CHAIN_POLICY) == NF_ACCEPT};
}

/// The comment of "-m comment" as iptables keeps it: 256 bytes that end with a zero.
std::string comment_in(const nftnl_expr* match) {
    if (text(::nftnl_expr_get_str(match, NFTNL_EXPR_MT_NAME)) != "comment") return {};
    std::uint32_t size = 0;
    const auto* found =
        static_cast<const char*>(::nftnl_expr_get(match, NFTNL_EXPR_MT_INFO, &size));
    return found == nullptr ? std::string() : std::string(found, ::strnlen(found, size));
}

int take_expression(nftnl_expr* expression, void* taker) {
    auto& rule = *static_cast<FilterRule*>(taker);
    const std::string name = text(::nftnl_expr_get_str(expression, NFTNL_EXPR_NAME));
    if (name == "immediate") {
        const char* chain = ::nftnl_expr_get_str(expression, NFTNL_EXPR_IMM_CHAIN);
        if (chain != nullptr) rule.jump = chain;
    }
    if (name == "match" && rule.comment.empty()) rule.comment = comment_in(expression);
    return 0;
}

FilterRule rule_from(const char* family, const nlmsghdr* message) {
    const Owned<nftnl_rule> parsed(::nftnl_rule_alloc());
    ::nftnl_rule_nlmsg_parse(message, parsed.get());
    FilterRule rule{family,
                    text(::nftnl_rule_get_str(parsed.get(), NFTNL_RULE_TABLE)),
                    text(::nftnl_rule_get_str(parsed.get(), NFTNL_RULE_CHAIN)),
                    ::nftnl_rule_get_u64(parsed.get(), NFTNL_RULE_HANDLE),
                    {},
                    {}};
    ::nftnl_expr_foreach(parsed.get(), take_expression, &rule);
    return rule;
}

template <typename Part>
Result<> add_all(Netlink& kernel, std::uint16_t type, Part (*from)(const char*, const nlmsghdr*),
                 std::vector<Part>& parts) {
    for (const auto& [number, family] : kFamilies) {
        NetlinkBuffer buffer{};
        const auto* request =
            ::nftnl_nlmsg_build_hdr(buffer.data(), type, number, NLM_F_DUMP, /*seq*/ 0);
        const auto answer = TRY(kernel.ask(bytes_of(request), "listing packet filters"));
        for (const std::string& each : answer) parts.push_back(from(family, header_of(each)));
    }
    return {};
}

Result<std::uint32_t> generation_of(Netlink& kernel) {
    NetlinkBuffer buffer{};
    const auto* request = ::nftnl_nlmsg_build_hdr(buffer.data(), NFT_MSG_GETGEN, NFPROTO_UNSPEC,
                                                  /*flags*/ 0, /*seq*/ 0);
    const auto answer =
        TRY(kernel.ask(bytes_of(request), "reading the generation of packet filters"));
    const Owned<nftnl_gen> generation(::nftnl_gen_alloc());
    if (!answer.empty()) ::nftnl_gen_nlmsg_parse(header_of(answer.front()), generation.get());
    return ::nftnl_gen_get_u32(generation.get(), NFTNL_GEN_ID);
}

/// Messages that the kernel applies all or not at all.
class Transaction {
public:
    explicit Transaction(std::uint32_t generation) {
        nlmsghdr* begin = ::nftnl_batch_begin(buffer_.data(), 0);
        ::mnl_attr_put_u32(begin, NFNL_BATCH_GENID, ::htonl(generation));
        bytes_ += bytes_of(begin);
    }

    /// Handle 0: all rules of the chain.
    void delete_rules(const std::string& family, const std::string& table, const std::string& chain,
                      std::uint64_t handle) {
        const Owned<nftnl_rule> rule(::nftnl_rule_alloc());
        ::nftnl_rule_set_str(rule.get(), NFTNL_RULE_TABLE, table.c_str());
        ::nftnl_rule_set_str(rule.get(), NFTNL_RULE_CHAIN, chain.c_str());
        if (handle != 0) ::nftnl_rule_set_u64(rule.get(), NFTNL_RULE_HANDLE, handle);
        add(NFT_MSG_DELRULE, family, ::nftnl_rule_nlmsg_build_payload, rule.get());
    }

    void delete_chain(const FilterChain& going) {
        const Owned<nftnl_chain> chain(::nftnl_chain_alloc());
        ::nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_TABLE, going.table.c_str());
        ::nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_NAME, going.name.c_str());
        add(NFT_MSG_DELCHAIN, going.family, ::nftnl_chain_nlmsg_build_payload, chain.get());
    }

    void delete_table(const FilterTable& going) {
        const Owned<nftnl_table> table(::nftnl_table_alloc());
        ::nftnl_table_set_str(table.get(), NFTNL_TABLE_NAME, going.name.c_str());
        add(NFT_MSG_DELTABLE, going.family, ::nftnl_table_nlmsg_build_payload, table.get());
    }

    const std::string& finish() { return bytes_ += bytes_of(::nftnl_batch_end(buffer_.data(), 0)); }

private:
    template <typename Build, typename Object>
    void add(std::uint16_t type, const std::string& family, Build build, Object* object) {
        const auto* found = std::ranges::find(kFamilies, family, &Numbered::second);
        nlmsghdr* message = ::nftnl_nlmsg_build_hdr(buffer_.data(), type, found->first, 0, 0);
        build(message, object);
        bytes_ += bytes_of(message);
    }

    NetlinkBuffer buffer_{};
    std::string bytes_;
};

Result<Ruleset> list_ruleset_once() {
    auto kernel = TRY(Netlink::open(NETLINK_NETFILTER));
    const auto generation = generation_of(kernel);
    // The error of a kernel without nf_tables.
    if (!generation && generation.error().code == Code::invalid) return Ruleset{};
    Ruleset found;
    found.generation = TRY(generation);
    TRY(add_all(kernel, NFT_MSG_GETTABLE, table_from, found.tables));
    TRY(add_all(kernel, NFT_MSG_GETCHAIN, chain_from, found.chains));
    TRY(add_all(kernel, NFT_MSG_GETRULE, rule_from, found.rules));
    return found;
}

}  // namespace

Result<Ruleset> list_ruleset() { return until_consistent(list_ruleset_once); }

Result<> remove_from_filter(const Ruleset& going) {
    auto kernel = TRY(Netlink::open(NETLINK_NETFILTER));
    Transaction transaction(going.generation);
    for (const FilterRule& rule : going.rules) {
        transaction.delete_rules(rule.family, rule.table, rule.chain, rule.handle);
    }
    for (const FilterChain& chain : going.chains) {
        transaction.delete_rules(chain.family, chain.table, chain.name, 0);
    }
    for (const FilterChain& chain : going.chains) transaction.delete_chain(chain);
    for (const FilterTable& table : going.tables) transaction.delete_table(table);
    crash_point("filter.remove.before");
    auto done = kernel.ask(transaction.finish(), "removing chains of packet filters");
    crash_point("filter.remove.after");
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<std::vector<std::string>> legacy_tables(const Root& root) {
    std::vector<std::string> tables;
    for (const auto& [family, file] : {std::pair("IPv4", "ip"), std::pair("IPv6", "ip6")}) {
        // /proc/net and /proc/self are symbolic links, which are not followed.
        auto names = read_file(root, fmt::format("/proc/{}/net/{}_tables_names", ::getpid(), file),
                               kMaxNames);
        if (!names && names.error().code == Code::not_found) continue;
        const std::string text = TRY(std::move(names));
        for (const std::string_view line : lines_of(text)) {
            tables.push_back(fmt::format("{} {}", family, line));
        }
    }
    return tables;
}

}  // namespace kubexm::executor
