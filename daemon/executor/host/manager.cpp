#include "daemon/executor/host/manager.hpp"

#include "daemon/base/crash_point.hpp"

namespace kubexm::executor {

namespace {

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kSystemdPath = "/org/freedesktop/systemd1";
constexpr const char* kBus = "org.freedesktop.DBus";  // name and interface
constexpr const char* kBusPath = "/org/freedesktop/DBus";

constexpr const char* kOwnerChanges =
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
    "member='NameOwnerChanged',arg0='org.freedesktop.systemd1'";

bool says_systemd_changed(const bus::Message& message) {
    const char* name = nullptr;
    return bus::is_signal(message, kBus, kBus, "NameOwnerChanged") &&
           bus::read(message, "s", &name) && std::string_view(name) == kSystemd;
}

}  // namespace

Result<Manager> Manager::connect(const std::string& address, bus::Deadline deadline) {
    auto connection = bus::Connection::open(address, deadline);
    if (!connection) return std::unexpected(connection.error());
    Manager manager(*std::move(connection));
    if (auto found = manager.find_systemd(deadline); !found) {
        return during("looking for systemd on the message bus", found.error());
    }
    return manager;
}

Result<> Manager::find_systemd(bus::Deadline deadline) {
    // Watched before it is looked up, so that no change is missed.
    auto watched = ask(bus_request("AddMatch", kOwnerChanges), deadline);
    if (!watched) return std::unexpected(watched.error());
    auto owner = ask(bus_request("GetNameOwner", kSystemd), deadline);
    if (!owner) return std::unexpected(owner.error());
    auto name = read_text(*owner, "s");
    if (!name) return std::unexpected(name.error());
    systemd_ = *std::move(name);
    return {};
}

bool Manager::still_there(bus::Deadline deadline) {
    while (!replaced_ && bus::left_until(deadline).count() > 0) {
        auto message = connection_.next_if_there();
        if (!message) return false;
        if (!*message) return true;
        replaced_ = says_systemd_changed(*message);
    }
    return !replaced_;
}

bus::Request Manager::request(const char* member) const {
    return request_to(kSystemdPath, kManagerInterface, member);
}

bus::Request Manager::request_to(const std::string& path, const char* interface,
                                 const char* member) const {
    return connection_.request({systemd_.c_str(), path.c_str(), interface, member});
}

bus::Request Manager::bus_request(const char* member, const char* argument) const {
    bus::Request made = connection_.request({kBus, kBusPath, kBus, member});
    made.add("s", argument);
    return made;
}

Result<bus::Message> Manager::ask(const bus::Request& request, bus::Deadline deadline) {
    return connection_.call(request, deadline);
}

Result<bus::Message> Manager::change(const bus::Request& request, bus::Deadline deadline) {
    crash_point("bus.call.before");
    auto answer = connection_.call(request, deadline);
    crash_point("bus.call.after");
    return answer;
}

Result<bus::Message> Manager::next(bus::Deadline deadline) {
    auto message = connection_.next(deadline);
    if (!message) return message;
    replaced_ = says_systemd_changed(*message);
    if (replaced_) return fail(Code::unavailable, "systemd was replaced while we waited for it");
    return message;
}

bool Manager::is_signal(const bus::Message& message, const char* member) const {
    return bus::is_signal(message, systemd_, kManagerInterface, member);
}

Result<std::string> read_text(const bus::Message& message, const char* type) {
    const char* text = nullptr;
    if (auto done = bus::read(message, type, &text); !done) return std::unexpected(done.error());
    return std::string(text);
}

}  // namespace kubexm::executor
