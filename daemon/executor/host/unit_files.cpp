// Enabling and masking: systemd creates and removes symbolic links to unit files.

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "daemon/base/fd.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/systemd_impl.hpp"

namespace kubexm::executor {

namespace {

using Directories = std::set<std::filesystem::path>;

/// The directories that systemd reports to have changed.
Result<Directories> changed_directories(const bus::Message& reply) {
    Directories directories;
    const char *kind = nullptr, *file = nullptr, *target = nullptr;
    int got = sd_bus_message_enter_container(reply.get(), 'a', "(sss)");
    while (got >= 0 &&
           (got = sd_bus_message_read(reply.get(), "(sss)", &kind, &file, &target)) > 0) {
        const bool changed =
            std::string_view(kind) == "symlink" || std::string_view(kind) == "unlink";
        if (changed) directories.insert(std::filesystem::path(file).parent_path());
    }
    if (got < 0) return bus::unexpected_types(reply.get(), "a(sss)");
    return directories;
}

/// systemd does not sync its links: without this a power cut could undo a step that the journal
/// records as done. Syncs the parent of a directory that was removed with its last link.
Result<> sync_existing(std::filesystem::path directory) {
    for (;;) {
        const Fd fd{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (fd) return sync_directory(fd.get(), directory.string());
        if (errno != ENOENT || !directory.has_relative_path()) {
            return from_errno("open", directory.string());
        }
        directory = directory.parent_path();
    }
}

Result<> make_durable(const bus::Message& reply) {
    const auto directories = TRY(changed_directories(reply));
    for (const auto& directory : directories) TRY(sync_existing(directory));
    return {};
}

Result<> check_installable(const bus::Message& reply) {
    int installable = 0;
    TRY(bus::read(reply, "b", &installable));
    if (installable != 0) return {};
    return fail(Code::invalid, "unit file: expected an [Install] section, found none");
}

Result<> change_links(Manager& manager, const LinkMethod& method, const std::string& unit,
                      Deadline deadline) {
    // Persistent, and without replacing existing files.
    const auto request =
        manager.request(method.name, method.types, 1, unit.c_str(), /*runtime*/ 0, /*force*/ 0);
    const auto reply = TRY(manager.change(request, deadline));
    if (method.returns_installable) TRY(check_installable(reply));
    return make_durable(reply);
}

constexpr LinkMethod kEnable{"EnableUnitFiles", "asbb", true};
constexpr LinkMethod kDisable{"DisableUnitFiles", "asb"};

/// Reloads also without a change: an earlier run may have ended before its reload.
Result<> relink(Manager& manager, const LinkMethod& method, const std::string& unit,
                Deadline deadline, bool reload = true) {
    auto done = change_links(manager, method, unit, deadline);
    if (done && reload) done = reload_files(manager, deadline);
    if (!done) return during(fmt::format("{} {}", method.name, unit), done.error());
    return {};
}

}  // namespace

Result<> reload_files(Manager& manager, Deadline deadline) {
    auto done = manager.change(manager.request("Reload"), deadline);
    if (!done) return during("reloading systemd", done.error());
    return {};
}

Result<> Systemd::Impl::links(const LinkMethod& method, const std::string& unit,
                              Deadline deadline) {
    Manager* systemd = TRY(connect_for(unit, deadline));
    return relink(*systemd, method, unit, deadline);
}

Result<> Systemd::enable(const std::string& unit, Deadline deadline) {
    return impl_->links(kEnable, unit, deadline);
}

Result<> Systemd::disable(const std::string& unit, Deadline deadline) {
    return impl_->links(kDisable, unit, deadline);
}

Result<> Systemd::remove_links(const std::string& unit, Deadline deadline) {
    Manager* systemd = TRY(impl_->connect_for(unit, deadline));
    return relink(*systemd, kDisable, unit, deadline, /*reload=*/false);
}

Result<> Systemd::mask(const std::string& unit, Deadline deadline) {
    return impl_->links({"MaskUnitFiles", "asbb"}, unit, deadline);
}

Result<> Systemd::unmask(const std::string& unit, Deadline deadline) {
    Manager* systemd = TRY(impl_->connect_for(unit, deadline));
    // A mask until the next boot hides the unit as well.
    const auto request = systemd->request("UnmaskUnitFiles", "asb", 1, unit.c_str(), /*runtime*/ 1);
    if (auto done = systemd->change(request, deadline); !done) {
        return during("UnmaskUnitFiles " + unit, done.error());
    }
    return impl_->links({"UnmaskUnitFiles", "asb"}, unit, deadline);
}

}  // namespace kubexm::executor
