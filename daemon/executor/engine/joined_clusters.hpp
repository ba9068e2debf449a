#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/authorities.hpp"

namespace kubexm::executor {

/// The last join of a cluster that this host was in.
struct JoinedCluster {
    std::string server;
    std::vector<std::string> server_pins;
    std::vector<std::string> client_pins;

    bool operator==(const JoinedCluster&) const = default;
};

/// The clusters that this host was in, told apart by the CAs of their API servers: a file in the
/// state directory with a line for each. It outlives a release and a discarded journal: else user
/// kubexm could slip in a CA with the next join.
class JoinedClusters {
public:
    explicit JoinedClusters(std::string directory) : directory_(std::move(directory)) {}

    Result<std::vector<JoinedCluster>> all() const;
    /// In place of the last join of the same cluster.
    Result<> add(const JoinedCluster& joined) const;
    /// exhausted: there is no room for one more cluster. None is forgotten for another: that would
    /// be a way to make this host forget.
    Result<> check_room(const JoinedCluster& wanted) const;

private:
    std::string directory_;
};

/// Whether a new node may accept the clients of these CAs where this host was a node of the same
/// cluster before, also under another address. They must be those of then, or signed by one, or
/// trusted by root. Pure. denied: names the CA.
Result<> may_join_again(const std::vector<JoinedCluster>& joined, const JoinedCluster& wanted,
                        const std::vector<pki::Authority>& clients, const TrustedPins& trusted);

}  // namespace kubexm::executor
