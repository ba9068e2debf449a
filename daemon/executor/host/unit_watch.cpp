#include "daemon/executor/host/unit_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/manager.hpp"
#include "daemon/executor/host/unit_name.hpp"

namespace kubexm::executor {

namespace {

constexpr const char* kUnitPrefix = "/org/freedesktop/systemd1/unit";
constexpr const char* kProperties = "org.freedesktop.DBus.Properties";

struct Free {
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): sd-bus allocates it
    void operator()(char* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, Free>;

Result<std::string> object_of(const std::string& unit) {
    TRY(check_unit_name(unit));
    char* path = nullptr;
    const int done = sd_bus_path_encode(kUnitPrefix, unit.c_str(), &path);
    if (done < 0) return from_errno("encode", unit, -done);
    return std::string(Text(path).get());
}

/// Empty: not the object of a unit.
std::string unit_of(const bus::Message& message) {
    char* unit = nullptr;
    const char* path = sd_bus_message_get_path(message.get());
    if (path == nullptr || sd_bus_path_decode(path, kUnitPrefix, &unit) <= 0) return "";
    return Text(unit).get();
}

std::string rule_for_unit(const std::string& object) {
    return fmt::format(
        "type='signal',sender='org.freedesktop.systemd1',interface='{}',"
        "member='PropertiesChanged',path='{}'",
        kProperties, object);
}

std::string rule_for_manager(const char* member) {
    return fmt::format("type='signal',sender='org.freedesktop.systemd1',interface='{}',member='{}'",
                       kManagerInterface, member);
}

}  // namespace

struct UnitWatch::Impl {
    Manager manager;
    std::vector<std::string> units;

    Result<> subscribe(Deadline deadline);
    bool is_reloaded(const bus::Message& message) const;
    void add(const bus::Message& message, std::set<std::string>& changed) const;
};

Result<> UnitWatch::Impl::subscribe(Deadline deadline) {
    std::vector<std::string> rules{rule_for_manager("UnitFilesChanged"),
                                   rule_for_manager("Reloading")};
    for (const std::string& unit : units) {
        const std::string object = TRY(object_of(unit));
        rules.push_back(rule_for_unit(object));
    }
    for (const std::string& rule : rules) {
        TRY(manager.ask(manager.bus_request("AddMatch", rule.c_str()), deadline));
    }
    // systemd sends no signals without a subscriber.
    TRY(manager.ask(manager.request("Subscribe"), deadline));
    return {};
}

/// systemd also announces a reload when it begins, and answers nothing until its end.
bool UnitWatch::Impl::is_reloaded(const bus::Message& message) const {
    int active = 1;
    return manager.is_signal(message, "Reloading") && bus::read(message, "b", &active) &&
           active == 0;
}

void UnitWatch::Impl::add(const bus::Message& message, std::set<std::string>& changed) const {
    if (manager.is_signal(message, "UnitFilesChanged") || is_reloaded(message)) {
        changed.insert(units.begin(), units.end());
    }
    if (!manager.is_signal_of(message, kProperties, "PropertiesChanged")) return;
    std::string unit = unit_of(message);
    if (std::ranges::find(units, unit) != units.end()) changed.insert(std::move(unit));
}

UnitWatch::UnitWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
UnitWatch::UnitWatch(UnitWatch&&) noexcept = default;
UnitWatch& UnitWatch::operator=(UnitWatch&&) noexcept = default;
UnitWatch::~UnitWatch() = default;

Result<UnitWatch> UnitWatch::open(const std::string& address, std::vector<std::string> units,
                                  Deadline deadline) {
    auto manager = TRY(Manager::connect(address.empty() ? kSystemBus : address, deadline));
    auto impl = std::make_unique<Impl>(std::move(manager), std::move(units));
    TRY(impl->subscribe(deadline));
    return UnitWatch(std::move(impl));
}

int UnitWatch::fd() const { return impl_->manager.fd(); }

Result<std::set<std::string>> UnitWatch::changed() {
    std::set<std::string> units;
    for (;;) {
        const auto message = TRY(impl_->manager.next_queued());
        if (!message) return units;
        impl_->add(message, units);
    }
}

}  // namespace kubexm::executor
