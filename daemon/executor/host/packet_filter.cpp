#include "daemon/executor/host/packet_filter.hpp"

#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <unistd.h>

#include <array>
#include <sstream>
#include <utility>

#include "daemon/base/crash_point.hpp"
#include "daemon/executor/host/netlink.hpp"

namespace kubexm::executor {

namespace {

constexpr std::array<std::pair<std::uint8_t, const char*>, 2> kFamilies{
    {{NFPROTO_IPV4, "ip"}, {NFPROTO_IPV6, "ip6"}}};
constexpr std::size_t kMaxNames = 4096;  // of legacy tables, of which there are five

std::uint16_t type_of(int message) {
    return static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | message);
}

nfgenmsg header_of(std::uint8_t family) {
    return {.nfgen_family = family, .version = NFNETLINK_V0, .res_id = 0};
}

std::uint8_t number_of(const std::string& family) {
    return family == "ip" ? NFPROTO_IPV4 : NFPROTO_IPV6;
}

NetlinkAttributes attributes_of(const std::string& message) {
    return NetlinkAttributes::of(message, sizeof(nfgenmsg));
}

FilterTable table_from(const char* family, const NetlinkAttributes& found) {
    return {family, found.text(NFTA_TABLE_NAME), found.u32(NFTA_TABLE_USE)};
}

FilterChain chain_from(const char* family, const NetlinkAttributes& found) {
    return {family, found.text(NFTA_CHAIN_TABLE), found.text(NFTA_CHAIN_NAME),
            found.has(NFTA_CHAIN_HOOK), found.u32(NFTA_CHAIN_POLICY) == NF_ACCEPT};
}

/// Where an expression leads to, if it is a jump.
std::string jump_of(const NetlinkAttributes& expression) {
    if (expression.text(NFTA_EXPR_NAME) != "immediate") return {};
    const auto immediate = expression.below(NFTA_EXPR_DATA);
    const auto data = immediate ? immediate->below(NFTA_IMMEDIATE_DATA) : std::nullopt;
    const auto verdict = data ? data->below(NFTA_DATA_VERDICT) : std::nullopt;
    return verdict ? verdict->text(NFTA_VERDICT_CHAIN) : std::string();
}

FilterRule rule_from(const char* family, const NetlinkAttributes& found) {
    FilterRule rule{family,
                    found.text(NFTA_RULE_TABLE),
                    found.text(NFTA_RULE_CHAIN),
                    found.u64(NFTA_RULE_HANDLE),
                    {}};
    const auto expressions = found.below(NFTA_RULE_EXPRESSIONS);
    if (!expressions) return rule;
    for (const NetlinkAttributes& expression : expressions->elements()) {
        if (std::string target = jump_of(expression); !target.empty()) rule.jump = target;
    }
    return rule;
}

template <typename Part>
Result<> add_all(Netlink& kernel, int message, Part (*from)(const char*, const NetlinkAttributes&),
                 std::vector<Part>& parts) {
    for (const auto& [number, family] : kFamilies) {
        NetlinkRequest request;
        request.message(type_of(message), NLM_F_DUMP, header_of(number));
        auto answer = kernel.ask(request, "listing packet filters");
        if (!answer) return std::unexpected(answer.error());
        for (const std::string& each : *answer) parts.push_back(from(family, attributes_of(each)));
    }
    return {};
}

Result<std::uint32_t> generation_of(Netlink& kernel) {
    NetlinkRequest request;
    request.message(type_of(NFT_MSG_GETGEN), 0, header_of(NFPROTO_UNSPEC));
    auto answer = kernel.ask(request, "asking for packet filters");
    if (!answer) return std::unexpected(answer.error());
    return answer->empty() ? 0 : attributes_of(answer->front()).u32(NFTA_GEN_ID);
}

Result<Ruleset> list_from(Netlink& kernel) {
    auto generation = generation_of(kernel);
    // The kernel's way to say that it has no nf_tables.
    if (!generation && generation.error().code == Code::invalid) return Ruleset{};
    if (!generation) return std::unexpected(generation.error());
    Ruleset found{.generation = *generation, .tables = {}, .chains = {}, .rules = {}};
    auto done = add_all(kernel, NFT_MSG_GETTABLE, table_from, found.tables);
    if (done) done = add_all(kernel, NFT_MSG_GETCHAIN, chain_from, found.chains);
    if (done) done = add_all(kernel, NFT_MSG_GETRULE, rule_from, found.rules);
    if (!done) return std::unexpected(done.error());
    return found;
}

void add_removals(NetlinkRequest& batch, const Ruleset& going) {
    for (const FilterRule& rule : going.rules) {
        batch.message(type_of(NFT_MSG_DELRULE), 0, header_of(number_of(rule.family)))
            .text(NFTA_RULE_TABLE, rule.table)
            .text(NFTA_RULE_CHAIN, rule.chain)
            .number(NFTA_RULE_HANDLE, rule.handle);
    }
    for (const FilterChain& chain : going.chains) {  // without a handle: all rules of the chain
        batch.message(type_of(NFT_MSG_DELRULE), 0, header_of(number_of(chain.family)))
            .text(NFTA_RULE_TABLE, chain.table)
            .text(NFTA_RULE_CHAIN, chain.name);
    }
    for (const FilterChain& chain : going.chains) {
        batch.message(type_of(NFT_MSG_DELCHAIN), 0, header_of(number_of(chain.family)))
            .text(NFTA_CHAIN_TABLE, chain.table)
            .text(NFTA_CHAIN_NAME, chain.name);
    }
    for (const FilterTable& table : going.tables) {
        batch.message(type_of(NFT_MSG_DELTABLE), 0, header_of(number_of(table.family)))
            .text(NFTA_TABLE_NAME, table.name);
    }
}

nfgenmsg batch_header() {
    // In network order, as the kernel wants the subsystem here.
    return {.nfgen_family = AF_UNSPEC,
            .version = NFNETLINK_V0,
            .res_id = static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8)};
}

}  // namespace

Result<Ruleset> list_ruleset() {
    auto kernel = Netlink::open(NETLINK_NETFILTER);
    if (!kernel) return std::unexpected(kernel.error());
    return list_from(*kernel);
}

Result<> remove_from_filter(const Ruleset& going) {
    auto kernel = Netlink::open(NETLINK_NETFILTER);
    if (!kernel) return std::unexpected(kernel.error());
    NetlinkRequest batch;
    batch.message(NFNL_MSG_BATCH_BEGIN, 0, batch_header())
        .number(NFNL_BATCH_GENID, going.generation);
    add_removals(batch, going);
    batch.message(NFNL_MSG_BATCH_END, 0, batch_header());
    crash_point("filter.remove.before");
    auto done = kernel->ask(batch, "removing chains of packet filters");
    crash_point("filter.remove.after");
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<std::vector<std::string>> legacy_tables(const Root& root) {
    std::vector<std::string> tables;
    for (const auto& [family, file] : {std::pair("IPv4", "ip"), std::pair("IPv6", "ip6")}) {
        // By number: /proc/net and /proc/self are links, which are not followed.
        auto names = read_file(root, fmt::format("/proc/{}/net/{}_tables_names", ::getpid(), file),
                               kMaxNames);
        if (!names && names.error().code == Code::not_found) continue;
        if (!names) return std::unexpected(names.error());
        std::istringstream lines(*names);
        for (std::string line; std::getline(lines, line);) {
            tables.push_back(fmt::format("{} {}", family, line));
        }
    }
    return tables;
}

}  // namespace kubexm::executor
