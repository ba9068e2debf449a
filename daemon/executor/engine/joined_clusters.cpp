#include "daemon/executor/engine/joined_clusters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/base/io.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

using pki::Authority;

constexpr const char* kJoinedFile = "joined-clusters";
constexpr std::size_t kMostClusters = 256;
constexpr std::size_t kMaxJoinedFile = std::size_t{2} << 20U;  // as long as their lines can be

std::vector<std::string> pins_of(std::string_view list) {
    std::vector<std::string> pins;
    while (!list.empty()) {
        pins.emplace_back(list.substr(0, list.find(',')));
        list.remove_prefix(std::min(pins.back().size() + 1, list.size()));
    }
    return pins;
}

/// "SERVER PIN,PIN PIN,PIN": those of the server, then those of kubelet's clients.
Result<JoinedCluster> cluster_in(std::string_view line) {
    const auto words = words_of(line);
    if (words.size() == 3) {
        return JoinedCluster{std::string(words[0]), pins_of(words[1]), pins_of(words[2])};
    }
    return fail(
        Code::invalid,
        fmt::format("{}: expected an API server and two lists of pins in each line", kJoinedFile));
}

std::string line_of(const JoinedCluster& joined) {
    return fmt::format("{} {} {}\n", joined.server, fmt::join(joined.server_pins, ","),
                       fmt::join(joined.client_pins, ","));
}

bool is_one_of(const std::vector<std::string>& pins, const Authority& one) {
    return std::ranges::find(pins, one.pin) != pins.end();
}

/// Only pins are kept: who has signed it must be in the bundle, too.
bool is_known(const Authority& one, const std::vector<Authority>& bundle,
              const std::vector<std::string>& pins) {
    return is_one_of(pins, one) || std::ranges::any_of(bundle, [&](const Authority& each) {
               return is_one_of(pins, each) && pki::has_signed(each, one);
           });
}

/// An address is no sign: another cluster may have it later.
bool is_same_cluster(const JoinedCluster& joined, const JoinedCluster& wanted) {
    return std::ranges::find_first_of(joined.server_pins, wanted.server_pins) !=
           joined.server_pins.end();
}

}  // namespace

Result<std::vector<JoinedCluster>> JoinedClusters::all() const {
    const auto directory = TRY(StateDirectory::open(directory_));
    const bool is_there = TRY(directory.has(kJoinedFile));
    std::vector<JoinedCluster> found;
    if (!is_there) return found;
    const Fd file = TRY(directory.read(kJoinedFile));
    const auto text = TRY(read_rest(file.get(), directory.path_of(kJoinedFile), kMaxJoinedFile));
    for (const std::string_view line : lines_of(text)) {
        auto joined = TRY(cluster_in(line));
        found.push_back(std::move(joined));
    }
    return found;
}

Result<> JoinedClusters::add(const JoinedCluster& joined) const {
    auto known = TRY(all());
    if (std::ranges::find(known, joined) != known.end()) return {};
    std::erase_if(known, [&](const JoinedCluster& each) { return is_same_cluster(each, joined); });
    known.push_back(joined);
    std::string text;
    for (const JoinedCluster& each : known) text += line_of(each);
    const auto directory = TRY(StateDirectory::open(directory_));
    return directory.replace(kJoinedFile, text);
}

Result<> JoinedClusters::check_room(const JoinedCluster& wanted) const {
    const auto known = TRY(all());
    const bool is_known = std::ranges::any_of(
        known, [&](const JoinedCluster& each) { return is_same_cluster(each, wanted); });
    if (is_known || known.size() < kMostClusters) return {};
    return fail(Code::exhausted,
                fmt::format("{}/{}: at most {} clusters; remove the lines of clusters that are "
                            "not used any more",
                            directory_, kJoinedFile, kMostClusters));
}

Result<> may_join_again(const std::vector<JoinedCluster>& joined, const JoinedCluster& wanted,
                        const std::vector<Authority>& clients, const TrustedPins& trusted) {
    for (const JoinedCluster& each : joined) {
        if (!is_same_cluster(each, wanted)) continue;
        for (const Authority& one : clients) {
            if (trusted.has(one) || is_known(one, clients, each.client_pins)) continue;
            TRY(refusal("joined-cas", Code::denied,
                        fmt::format("CA {:.512} with pin sha256:{}: expected a CA of the last join "
                                    "of {}; if the cluster has a new CA, {}",
                                    one.name, one.pin, printable(each.server), kConfirmCa)));
        }
    }
    return {};
}

}  // namespace kubexm::executor
