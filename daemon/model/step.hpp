#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/model/document.hpp"
#include "daemon/model/step_traits.hpp"

namespace kubexm::model {

// The steps of a plan: a closed list of typed, plain structs. A change that no type describes
// cannot be made to a host. `kType` is the type's word in JSON, `fields` names the members once,
// for JSON, hash and wire. Paths are absolute. A new type is a struct here, with its traits, its
// describe() in step.cpp, its verbs in executor/steps (kinds.hpp and a file of its own), and its
// row in PLAN.md.

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

/// A rendered file as it was written; the content is in the vault.
struct WrittenFile {
    std::string digest;  // SHA-256 of the content, hexadecimal
    Mode mode{0644};

    bool operator==(const WrittenFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("digest", self.digest);
        visit("mode", self.mode);
    }
};

/// A file that the executor renders from typed parameters; the document determines its path.
struct RenderedFile {
    static constexpr std::string_view kType = "rendered-file";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kNoContent,      CommitGroup::grouped, NeededBy::units,
                                        DriftCheck::path};
    Document document;
    /// Written instead of a new rendering. In the ledger and in repairs only: another version may
    /// render the same document differently.
    std::optional<WrittenFile> written;

    Description describe() const;
    bool operator==(const RenderedFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("document", self.document);
        visit("written", self.written);
    }
};

/// The purpose of content that is not rendered: each kind has its own paths, and the executor
/// parses the content. Anything that root executes or obeys is rendered.
enum class DataKind { ca_bundle };

/// A file whose content comes with the plan, named by digest.
struct DataFile {
    static constexpr std::string_view kType = "data-file";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kCaBundle,       CommitGroup::grouped, NeededBy::units,
                                        DriftCheck::path};
    std::string path;
    DataKind kind = DataKind::ca_bundle;
    std::string digest;  // SHA-256 of the content, hexadecimal
    FileAccess access;

    Description describe() const;
    bool operator==(const DataFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("kind", self.kind);
        visit("digest", self.digest);
        visit("access", self.access);
    }
};

/// A file whose content is a secret. A plan holds only its handle and digest.
struct SecretFile {
    static constexpr std::string_view kType = "secret-file";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kSecretData,     CommitGroup::grouped, NeededBy::units,
                                        DriftCheck::path};
    std::string path;
    std::string handle;
    std::string digest;
    FileAccess access{.mode = Mode{0600}};
    /// The file is one generation of this series, such as "kubelet-client". When the step is done,
    /// the owner's older files of the series are undone, except the previous one.
    std::optional<std::string> series;

    Description describe() const;
    bool operator==(const SecretFile&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("handle", self.handle);
        visit("digest", self.digest);
        visit("access", self.access);
        visit("series", self.series);
    }
};

struct Directory {
    static constexpr std::string_view kType = "directory";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kNoContent,      CommitGroup::grouped, NeededBy::units,
                                        DriftCheck::path};
    std::string path;
    FileAccess access{.mode = Mode{0755}};

    Description describe() const;
    bool operator==(const Directory&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("access", self.access);
    }
};

struct Symlink {
    static constexpr std::string_view kType = "symlink";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kNoContent,      CommitGroup::grouped, NeededBy::units,
                                        DriftCheck::path};
    std::string path;
    std::string target;

    Description describe() const;
    bool operator==(const Symlink&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("target", self.target);
    }
};

/// Our lines between two marker lines in a file of another owner.
struct ManagedBlock {
    static constexpr std::string_view kType = "managed-block";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kNoContent,      CommitGroup::grouped, NeededBy::units,
                                        DriftCheck::path};
    std::string path;
    std::string name;
    std::vector<std::string> lines;

    Description describe() const;
    bool operator==(const ManagedBlock&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("name", self.name);
        visit("lines", self.lines);
    }
};

/// No file, symbolic link or directory at a path; a directory there must be empty.
struct AbsentPath {
    static constexpr std::string_view kType = "absent-path";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,     UndoOrder::in_order,
                                        kNoContent,      CommitGroup::alone, NeededBy::none,
                                        DriftCheck::none};
    std::string path;

    Description describe() const;
    bool operator==(const AbsentPath&) const = default;
    static void fields(auto& self, auto&& visit) { visit("path", self.path); }
};

/// No directory at a path. Everything below it on the same file system is deleted.
struct DeletedTree {
    static constexpr std::string_view kType = "deleted-tree";
    static constexpr StepTraits kTraits{kTreeDeadline,   State::on_disk,     UndoOrder::in_order,
                                        kNoContent,      CommitGroup::alone, NeededBy::none,
                                        DriftCheck::none};
    std::string path;

    Description describe() const;
    bool operator==(const DeletedTree&) const = default;
    static void fields(auto& self, auto&& visit) { visit("path", self.path); }
};

/// A kernel parameter, dotted: "net.ipv4.ip_forward".
struct Sysctl {
    static constexpr std::string_view kType = "sysctl";
    static constexpr StepTraits kTraits{kStepDeadline,  State::runtime,       UndoOrder::in_order,
                                        kNoContent,     CommitGroup::grouped, NeededBy::none,
                                        DriftCheck::own};
    std::string key;
    std::string value;

    Description describe() const;
    bool operator==(const Sysctl&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("key", self.key);
        visit("value", self.value);
    }
};

struct KernelModule {
    static constexpr std::string_view kType = "kernel-module";
    static constexpr StepTraits kTraits{kStepDeadline,   State::runtime,     UndoOrder::in_order,
                                        kNoContent,      CommitGroup::alone, NeededBy::none,
                                        DriftCheck::none};
    std::string name;

    Description describe() const;
    bool operator==(const KernelModule&) const = default;
    static void fields(auto& self, auto&& visit) { visit("name", self.name); }
};

/// No swap is in use: every active .swap unit is stopped.
struct SwapOff {
    static constexpr std::string_view kType = "swap-off";
    static constexpr StepTraits kTraits{kStepDeadline,   State::runtime,     UndoOrder::in_order,
                                        kNoContent,      CommitGroup::alone, NeededBy::none,
                                        DriftCheck::none};

    Description describe() const;
    bool operator==(const SwapOff&) const = default;
    static void fields(auto&, auto&&) {}
};

/// Nothing is mounted below a path: the .mount units there are stopped, deepest first.
struct Unmounted {
    static constexpr std::string_view kType = "unmounted";
    static constexpr StepTraits kTraits{kStepDeadline,   State::runtime,     UndoOrder::in_order,
                                        kNoContent,      CommitGroup::alone, NeededBy::none,
                                        DriftCheck::none};
    std::string below;

    Description describe() const;
    bool operator==(const Unmounted&) const = default;
    static void fields(auto& self, auto&& visit) { visit("below", self.below); }
};

/// The desired state of a unit. Members without a value stay as they are.
struct UnitState {
    static constexpr std::string_view kType = "unit-state";
    static constexpr StepTraits kTraits{kStepDeadline,  State::runtime,     UndoOrder::in_order,
                                        kNoContent,     CommitGroup::alone, NeededBy::pods,
                                        DriftCheck::own};
    std::string name;  // "kubelet.service"
    std::optional<bool> enabled;
    std::optional<bool> active;
    std::optional<bool> masked;
    std::string restart_key;  // an active unit is restarted when this differs from the ledger's

    Description describe() const;
    bool operator==(const UnitState&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("enabled", self.enabled);
        visit("active", self.active);
        visit("masked", self.masked);
        visit("restart_key", self.restart_key);
    }
};

/// systemd has loaded the unit files of these units as they are on the disk.
struct DaemonReload {
    static constexpr std::string_view kType = "daemon-reload";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::last,
                                        kNoContent,      CommitGroup::grouped, NeededBy::none,
                                        DriftCheck::none};
    std::vector<std::string> units;

    Description describe() const;
    bool operator==(const DaemonReload&) const = default;
    static void fields(auto& self, auto&& visit) { visit("units", self.units); }
};

/// A command that PID 1 runs once in a transient unit. No shell.
struct TransientUnit {
    static constexpr std::string_view kType = "transient-unit";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,     UndoOrder::in_order,
                                        kNoContent,      CommitGroup::alone, NeededBy::none,
                                        DriftCheck::none};
    std::string name;  // "kubexm-preflight.service"
    std::vector<std::string> argv;
    std::uint32_t timeout_seconds = 60;

    Description describe() const;
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

/// A version of a component is installed and in use. Its content comes with the plan; every digest
/// must be on root's list.
struct ComponentVersion {
    static constexpr std::string_view kType = "component-version";
    static constexpr StepTraits kTraits{kStepDeadline,  State::on_disk,     UndoOrder::in_order,
                                        kBinaries,      CommitGroup::alone, NeededBy::both,
                                        DriftCheck::own};
    std::string component;  // "kubelet"
    std::string version;    // "v1.34.1"
    std::vector<ComponentFile> files;

    Description describe() const;
    bool operator==(const ComponentVersion&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("component", self.component);
        visit("version", self.version);
        visit("files", self.files);
    }
};

/// A path that a started unit will create or fill. Undo removes everything new in it.
struct Claim {
    static constexpr std::string_view kType = "claim";
    static constexpr StepTraits kTraits{kTreeDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kNoContent,      CommitGroup::records, NeededBy::both,
                                        DriftCheck::none};
    std::string path;
    std::optional<bool> if_empty;       // remove only the directory itself, and only if it is empty
    std::optional<std::string> prefix;  // of the names that are ours, also of mounts: "cni-"

    Description describe() const;
    bool operator==(const Claim&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("path", self.path);
        visit("if_empty", self.if_empty);
        visit("prefix", self.prefix);
    }
};

/// Objects that a kubelet, its pods and the pod network create beside the claimed paths.
enum class SideEffect { pods, chains, sets, links, routes, network_files, cgroups };

/// Undo removes the objects of a kind that appeared after this step. A plan names the kind only, so
/// it cannot point at an object of another owner.
struct SideEffects {
    static constexpr std::string_view kType = "side-effects";
    static constexpr StepTraits kTraits{kStepDeadline,   State::on_disk,       UndoOrder::in_order,
                                        kNoContent,      CommitGroup::records, NeededBy::both,
                                        DriftCheck::none};
    SideEffect kind = SideEffect::pods;

    Description describe() const;
    bool operator==(const SideEffects&) const = default;
    static void fields(auto& self, auto&& visit) { visit("kind", self.kind); }
};

using Step =
    std::variant<RenderedFile, DataFile, SecretFile, Directory, Symlink, ManagedBlock, AbsentPath,
                 DeletedTree, Sysctl, KernelModule, SwapOff, Unmounted, UnitState, DaemonReload,
                 ComponentVersion, TransientUnit, Claim, SideEffects>;

/// "rendered-file", "sysctl", ...
std::string_view type_of(const Step& step);
const StepTraits& traits_of(const Step& step);
Description describe(const Step& step);

/// The path that a step is about; empty: none.
std::string path_of(const Step& step);
/// For a list of objects: "file /etc/hosts", "unit kubelet.service".
std::string object_of(const Step& step);

// Single members of the description.
std::string target_of(const Step& step);
std::string text_of(const Step& step);
std::vector<std::string> effects_of(const Step& step);

}  // namespace kubexm::model
