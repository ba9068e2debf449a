#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

using ObjectNames = std::vector<std::string>;

// The state before a step, as the ledger stores it. File content is named by digest; the vault has
// the bytes.

struct Xattr {
    std::string name;
    std::string hex;

    bool operator==(const Xattr&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("hex", self.hex);
    }
};

struct PathPreImage {
    static constexpr std::string_view kType = "path";
    PathKind kind = PathKind::absent;
    std::string digest;
    std::string target;
    std::uint32_t mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::vector<Xattr> xattrs;
    std::optional<bool> ours;  // absent: but for a file of ours that the ledger did not have

    bool operator==(const PathPreImage&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("kind", self.kind);
        visit("digest", self.digest);
        visit("target", self.target);
        visit("mode", self.mode);
        visit("uid", self.uid);
        visit("gid", self.gid);
        visit("xattrs", self.xattrs);
        visit("ours", self.ours);
    }
};

/// A file of another owner with a block of ours.
struct BlockPreImage {
    static constexpr std::string_view kType = "block";
    PathPreImage file;

    bool operator==(const BlockPreImage&) const = default;
    static void fields(auto& self, auto&& visit) { visit("file", self.file); }
};

/// A kernel parameter and its value.
struct Setting {
    std::string key;
    std::string value;

    bool operator==(const Setting&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("key", self.key);
        visit("value", self.value);
    }
};

struct ValuePreImage {
    static constexpr std::string_view kType = "value";
    std::string value;
    std::optional<std::vector<Setting>> exceptions;   // not restored by `value`
    std::optional<std::vector<std::string>> bridges;  // where `value` is that of forwarding

    bool operator==(const ValuePreImage&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("value", self.value);
        visit("exceptions", self.exceptions);
        visit("bridges", self.bridges);
    }
};

struct UnitPreImage {
    static constexpr std::string_view kType = "unit";
    std::string enablement;        // of systemd: "enabled", "disabled", "masked", "" for no unit
    bool active = false;           // or starting
    std::optional<bool> starting;  // was starting, perhaps in a restart loop
    std::optional<bool> linked;    // was masked, with the links of an enabled unit

    bool operator==(const UnitPreImage&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("enablement", self.enablement);
        visit("active", self.active);
        visit("starting", self.starting);
        visit("linked", self.linked);
    }
};

struct Swap {
    std::string unit;
    std::string path;
    std::optional<std::uint32_t> priority;  // none: chosen by the kernel

    bool operator==(const Swap&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("unit", self.unit);
        visit("path", self.path);
        visit("priority", self.priority);
    }
};

/// The active swaps in order of use.
struct SwapsPreImage {
    static constexpr std::string_view kType = "swaps";
    std::vector<Swap> swaps;

    bool operator==(const SwapsPreImage&) const = default;
    static void fields(auto& self, auto&& visit) { visit("swaps", self.swaps); }
};

/// A claimed path and its entries.
struct ClaimPreImage {
    static constexpr std::string_view kType = "claim";
    PathPreImage directory;
    std::vector<std::string> entries;
    std::optional<std::vector<std::string>> mounts;  // paths below, sorted

    bool operator==(const ClaimPreImage&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("directory", self.directory);
        visit("entries", self.entries);
        visit("mounts", self.mounts);
    }
};

/// The directory of a component, its entries and the link to the version in use.
struct ComponentPreImage {
    static constexpr std::string_view kType = "component";
    PathPreImage home;
    PathPreImage current;
    std::vector<std::string> entries;

    bool operator==(const ComponentPreImage&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("home", self.home);
        visit("current", self.current);
        visit("entries", self.entries);
    }
};

/// The objects of a kind that existed.
struct SideEffectsPreImage {
    static constexpr std::string_view kType = "side-effects";
    std::vector<std::string> before;

    bool operator==(const SideEffectsPreImage&) const = default;
    static void fields(auto& self, auto&& visit) { visit("before", self.before); }
};

/// Nothing to restore.
struct NoPreImage {
    static constexpr std::string_view kType = "none";

    bool operator==(const NoPreImage&) const = default;
    static void fields(auto&, auto&&) {}
};

using PreImage = std::variant<NoPreImage, PathPreImage, BlockPreImage, ValuePreImage, UnitPreImage,
                              SwapsPreImage, ClaimPreImage, ComponentPreImage, SideEffectsPreImage>;

std::string to_json(const PreImage& image);
/// corrupt: not written by us.
Result<PreImage> image_from_json(std::string_view text);

/// The digests of the vault content that an image refers to.
std::vector<std::string> contents_of(const PreImage& image);

}  // namespace kubexm::executor
