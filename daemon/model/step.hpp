#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/model/document.hpp"

namespace kubexm::model {

// The steps a plan is made of: a closed list of typed, plain structs. What is not in this list
// cannot be done to a host. `fields` names the members once, for the JSON form, the hash and the
// wire; `kType` is the word for it in that form. Paths are absolute.

/// Permission bits; "0644" in the JSON form, as people write them.
struct Mode {
    std::uint32_t bits = 0;

    bool operator==(const Mode&) const = default;
};

/// Permission bits and owner of a file or directory.
struct FileAccess {
    Mode mode{0644};
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;

    bool operator==(const FileAccess&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("mode", self.mode);
        visit("uid", self.uid);
        visit("gid", self.gid);
    }
};

/// A file that the executor writes from typed parameters; they know its path.
struct RenderedFile {
    static constexpr std::string_view kType = "rendered-file";
    Document document;

    bool operator==(const RenderedFile&) const = default;
    static void fields(auto& self, auto&& visit) { visit("document", self.document); }
};

/// What free content may be. Anything that root executes is rendered instead.
enum class DataKind { ca_bundle, registry_hosts, cni_config };

/// A file whose content comes with the plan, named by digest.
struct DataFile {
    static constexpr std::string_view kType = "data-file";
    std::string path;
    DataKind kind = DataKind::ca_bundle;
    std::string digest;  // SHA-256 of the content, hexadecimal
    FileAccess access;

    bool operator==(const DataFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("kind", self.kind);
        visit("digest", self.digest);
        visit("access", self.access);
    }
};

/// A file whose content is a secret. Only the handle and the digest are ever part of a plan.
struct SecretFile {
    static constexpr std::string_view kType = "secret-file";
    std::string path;
    std::string handle;
    std::string digest;
    FileAccess access{.mode = Mode{0600}};

    bool operator==(const SecretFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("handle", self.handle);
        visit("digest", self.digest);
        visit("access", self.access);
    }
};

struct Directory {
    static constexpr std::string_view kType = "directory";
    std::string path;
    FileAccess access{.mode = Mode{0755}};

    bool operator==(const Directory&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("access", self.access);
    }
};

struct Symlink {
    static constexpr std::string_view kType = "symlink";
    std::string path;
    std::string target;

    bool operator==(const Symlink&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("target", self.target);
    }
};

/// Lines of ours inside a file that belongs to somebody else, between two marker lines.
struct ManagedBlock {
    static constexpr std::string_view kType = "managed-block";
    std::string path;
    std::string name;
    std::vector<std::string> lines;

    bool operator==(const ManagedBlock&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("name", self.name);
        visit("lines", self.lines);
    }
};

/// A file, symbolic link or empty directory that shall not be there.
struct AbsentPath {
    static constexpr std::string_view kType = "absent-path";
    std::string path;

    bool operator==(const AbsentPath&) const = default;
    static void fields(auto& self, auto&& visit) { visit("path", self.path); }
};

/// A directory that shall not be there, with everything below it that is on the same file system.
struct DeletedTree {
    static constexpr std::string_view kType = "deleted-tree";
    std::string path;

    bool operator==(const DeletedTree&) const = default;
    static void fields(auto& self, auto&& visit) { visit("path", self.path); }
};

/// A kernel parameter, dotted: "net.ipv4.ip_forward".
struct Sysctl {
    static constexpr std::string_view kType = "sysctl";
    std::string key;
    std::string value;

    bool operator==(const Sysctl&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("key", self.key);
        visit("value", self.value);
    }
};

struct KernelModule {
    static constexpr std::string_view kType = "kernel-module";
    std::string name;

    bool operator==(const KernelModule&) const = default;
    static void fields(auto& self, auto&& visit) { visit("name", self.name); }
};

/// No swap is in use: every active .swap unit is stopped.
struct SwapOff {
    static constexpr std::string_view kType = "swap-off";

    bool operator==(const SwapOff&) const = default;
    static void fields(auto&, auto&&) {}
};

/// Nothing is mounted below a path: the .mount units there are stopped, deepest first.
struct Unmounted {
    static constexpr std::string_view kType = "unmounted";
    std::string below;

    bool operator==(const Unmounted&) const = default;
    static void fields(auto& self, auto&& visit) { visit("below", self.below); }
};

/// The state a unit shall be in; what is not said stays as it is.
struct UnitState {
    static constexpr std::string_view kType = "unit-state";
    std::string name;  // "kubelet.service"
    std::optional<bool> enabled;
    std::optional<bool> active;
    std::optional<bool> masked;
    std::string restart_key;  // an active unit is restarted when this differs from the ledger's

    bool operator==(const UnitState&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("enabled", self.enabled);
        visit("active", self.active);
        visit("masked", self.masked);
        visit("restart_key", self.restart_key);
    }
};

/// systemd knows the files of these units as they are on the disk.
struct DaemonReload {
    static constexpr std::string_view kType = "daemon-reload";
    std::vector<std::string> units;

    bool operator==(const DaemonReload&) const = default;
    static void fields(auto& self, auto&& visit) { visit("units", self.units); }
};

/// A command run once by PID 1 in a unit of its own. No shell.
struct TransientUnit {
    static constexpr std::string_view kType = "transient-unit";
    std::string name;  // "kubexm-preflight.service"
    std::vector<std::string> argv;
    std::uint32_t timeout_seconds = 60;

    bool operator==(const TransientUnit&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("argv", self.argv);
        visit("timeout_seconds", self.timeout_seconds);
    }
};

/// One file of a component, relative to the directory of its version.
struct ComponentFile {
    std::string path;    // "kubelet", "bin/containerd"
    std::string digest;  // SHA-256 of the content, hexadecimal
    Mode mode{0755};

    bool operator==(const ComponentFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("digest", self.digest);
        visit("mode", self.mode);
    }
};

/// Where components are: /opt/kubexm/<component>/<version>, with a link `current` beside it.
inline constexpr std::string_view kComponents = "/opt/kubexm";

/// A version of a component is there and in use. Its content comes with the plan; what root does
/// not trust is refused.
struct ComponentVersion {
    static constexpr std::string_view kType = "component-version";
    std::string component;  // "kubelet"
    std::string version;    // "v1.34.1"
    std::vector<ComponentFile> files;

    bool operator==(const ComponentVersion&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("component", self.component);
        visit("version", self.version);
        visit("files", self.files);
    }
};

/// Something that what we start will make by itself, so that undo knows it is ours.
struct Claim {
    static constexpr std::string_view kType = "claim";
    std::string path;  // a directory tree that was not there before
    std::optional<bool>
        if_empty;  // only the directory itself, which others may come to use as well

    bool operator==(const Claim&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("if_empty", self.if_empty);
    }
};

/// What runs in a cluster makes besides files.
enum class ByProduct { pods, chains, links, cgroups };

/// What of a kind appears after this step is ours, and goes with undo. Nothing in it says which:
/// what was not there before and is recognisably of the kind.
struct SideEffects {
    static constexpr std::string_view kType = "side-effects";
    ByProduct kind = ByProduct::pods;

    bool operator==(const SideEffects&) const = default;
    static void fields(auto& self, auto&& visit) { visit("kind", self.kind); }
};

using Step =
    std::variant<RenderedFile, DataFile, SecretFile, Directory, Symlink, ManagedBlock, AbsentPath,
                 DeletedTree, Sysctl, KernelModule, SwapOff, Unmounted, UnitState, DaemonReload,
                 ComponentVersion, TransientUnit, Claim, SideEffects>;

/// "rendered-file", "sysctl", ...
std::string_view type_of(const Step& step);

/// The object of the step: a path, a unit, a key. Two steps with equal type and target concern
/// the same object.
std::string target_of(const Step& step);

/// The digests of the content a step needs, which comes with the plan.
std::vector<std::string> contents_of(const Step& step);

/// One line for a person: "write /var/lib/kubelet/config.yaml".
std::string text_of(const Step& step);

/// What a person should know before agreeing, in words: "restarts containers".
std::vector<std::string> effects_of(const Step& step);

}  // namespace kubexm::model
