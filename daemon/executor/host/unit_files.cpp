// Enabling and masking: systemd makes and removes symbolic links to unit files.

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "daemon/base/fd.hpp"
#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/systemd_impl.hpp"

namespace kubexm::executor {

namespace {

using Directories = std::set<std::filesystem::path>;

/// The directories in which systemd says it changed something.
Result<Directories> changed_directories(const bus::Message& answer) {
    Directories directories;
    const char *kind = nullptr, *file = nullptr, *target = nullptr;
    int got = sd_bus_message_enter_container(answer.get(), 'a', "(sss)");
    while (got >= 0 &&
           (got = sd_bus_message_read(answer.get(), "(sss)", &kind, &file, &target)) > 0) {
        const bool changed =
            std::string_view(kind) == "symlink" || std::string_view(kind) == "unlink";
        if (changed) directories.insert(std::filesystem::path(file).parent_path());
    }
    if (got < 0) return bus::not_as_expected(answer.get(), "a(sss)");
    return directories;
}

/// systemd does not sync the links it makes, and the journal says a step is done that a power cut
/// would undo. A directory that went with its last link leaves its parent to be synced.
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

Result<> make_durable(const bus::Message& answer) {
    auto directories = changed_directories(answer);
    if (!directories) return std::unexpected(directories.error());
    for (const auto& directory : *directories) {
        if (auto done = sync_existing(directory); !done) return done;
    }
    return {};
}

/// EnableUnitFiles says before all else whether the unit can be enabled.
Result<> check_installable(const bus::Message& answer) {
    int installable = 0;
    if (auto got = bus::read(answer, "b", &installable); !got) return got;
    if (installable != 0) return {};
    return fail(Code::invalid, "expected an [Install] section in the unit's file, found none");
}

Result<> change_links(Manager& manager, const LinkMethod& method, const std::string& unit,
                      bus::Deadline deadline) {
    // Not only until the next boot, and never in place of a file that is there.
    const auto request =
        manager.request(method.name, method.arguments, 1, unit.c_str(), /*runtime*/ 0, /*force*/ 0);
    auto answer = manager.change(request, deadline);
    if (!answer) return std::unexpected(answer.error());
    Result<> done;
    if (method.tells_if_installable) done = check_installable(*answer);
    if (done) done = make_durable(*answer);
    // Also where nothing was changed: we may have been killed before the last reload.
    if (done) done = reload_files(manager, deadline);
    return done;
}

}  // namespace

Result<> reload_files(Manager& manager, bus::Deadline deadline) {
    auto done = manager.change(manager.request("Reload"), deadline);
    if (!done) return during("making systemd read its files again", done.error());
    return {};
}

Result<> Systemd::Impl::relink(const LinkMethod& method, const std::string& unit,
                               Deadline deadline) {
    auto systemd = connect_for(unit, deadline);
    if (!systemd) return std::unexpected(systemd.error());
    auto done = change_links(**systemd, method, unit, deadline);
    if (!done) return during(fmt::format("{} {}", method.name, unit), done.error());
    return done;
}

Result<> Systemd::enable(const std::string& unit, Deadline deadline) {
    return impl_->relink({"EnableUnitFiles", "asbb", true}, unit, deadline);
}

Result<> Systemd::disable(const std::string& unit, Deadline deadline) {
    return impl_->relink({"DisableUnitFiles", "asb"}, unit, deadline);
}

Result<> Systemd::mask(const std::string& unit, Deadline deadline) {
    return impl_->relink({"MaskUnitFiles", "asbb"}, unit, deadline);
}

Result<> Systemd::unmask(const std::string& unit, Deadline deadline) {
    return impl_->relink({"UnmaskUnitFiles", "asb"}, unit, deadline);
}

}  // namespace kubexm::executor
