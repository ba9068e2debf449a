#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/pre_image.hpp"

// The objects that pod networks and kube-proxy make on a host, by the names that their sources
// have: the files in families/, which are compiled in. Undo removes an object only if it is new and
// in a family. Pure; private to this module.

namespace kubexm::executor::families {

/// Names, or prefixes that end in "*", and the file of the project that has them.
struct Facts {
    ObjectNames names;
    std::string source;
    /// Of paths that packages of others have, too: they are the project's only if this one, which
    /// is its own, is new as well.
    std::optional<std::string> only_with;

    static void fields(auto& self, auto&& visit) {
        visit("names", self.names);
        visit("source", self.source);
        visit("only_with", self.only_with);
    }
};

/// Routes by the number of their protocol, and only those on a link, if it is given.
struct RouteFact {
    std::string protocol;
    std::optional<std::string> link;
    std::string source;

    static void fields(auto& self, auto&& visit) {
        visit("protocol", self.protocol);
        visit("link", self.link);
        visit("source", self.source);
    }
};

struct Family {
    std::string project;
    std::string version;
    std::vector<Facts> paths;   // "*" in the last component only
    std::vector<Facts> mounts;  // the mount points themselves, which are ended
    std::vector<Facts> links;
    std::vector<Facts> tables;    // of nf_tables, "ip kube-proxy"; with everything in them
    std::vector<Facts> chains;    // in the tables of iptables
    std::vector<Facts> comments;  // of rules in chains of others
    std::vector<Facts> sets;      // of ipset
    std::vector<RouteFact> routes;
    std::vector<Facts>
        others;  // paths, chains and comments of other software, in spite of the above

    static void fields(auto& self, auto&& visit) {
        visit("project", self.project);
        visit("version", self.version);
        visit("paths", self.paths);
        visit("mounts", self.mounts);
        visit("links", self.links);
        visit("tables", self.tables);
        visit("chains", self.chains);
        visit("comments", self.comments);
        visit("sets", self.sets);
        visit("routes", self.routes);
        visit("others", self.others);
    }
};

/// invalid: not a family; the message names the place.
Result<Family> family_from(std::string_view yaml);

/// The families that are compiled in.
Result<std::vector<Family>> all();

/// The names of all families together.
struct Patterns {
    ObjectNames paths;
    ObjectNames mounts;
    ObjectNames links;
    ObjectNames tables;
    ObjectNames chains;
    ObjectNames comments;
    ObjectNames sets;
    std::vector<RouteFact> routes;
    ObjectNames others;
    /// Of a path, those of which one must be new as well.
    std::map<std::string, ObjectNames> companions;
};
Patterns merged(const std::vector<Family>& families);
Result<Patterns> known();

/// Whether a name is one of the patterns.
bool has(const ObjectNames& patterns, std::string_view name);

}  // namespace kubexm::executor::families
