#include "daemon/executor/host/manager.hpp"

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kBus = "org.freedesktop.DBus";  // name and interface
constexpr const char* kBusPath = "/org/freedesktop/DBus";

constexpr const char* kNameOwnerChanged =
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
    "member='NameOwnerChanged',arg0='org.freedesktop.systemd1'";

bool is_replacement_of_systemd(const bus::Message& message) {
    const char* name = nullptr;
    return bus::is_signal(message, kBus, kBus, "NameOwnerChanged") &&
           bus::read(message, "s", &name) && std::string_view(name) == kSystemd;
}

}  // namespace

Result<Manager> Manager::connect(const std::string& address, Deadline deadline) {
    Manager manager(TRY(bus::Connection::open(address, deadline)));
    if (auto found = manager.find_systemd(deadline); !found) {
        return during("finding systemd on the message bus", found.error());
    }
    return manager;
}

Result<> Manager::find_systemd(Deadline deadline) {
    // Subscribes before the lookup, so that no change is missed.
    TRY(ask(bus_request("AddMatch", kNameOwnerChanged), deadline));
    const auto owner = TRY(ask(bus_request("GetNameOwner", kSystemd), deadline));
    systemd_ = TRY(read_text(owner, "s"));
    return {};
}

bool Manager::is_connected(Deadline deadline) {
    while (!replaced_ && bus::left_until(deadline).count() > 0) {
        auto message = connection_.next_queued();
        if (!message) return false;
        if (!*message) return true;
        replaced_ = is_replacement_of_systemd(*message);
    }
    return !replaced_;
}

bus::MethodCall Manager::request(const char* member) const {
    return request_to(kManagerPath, kManagerInterface, member);
}

bus::MethodCall Manager::request_to(const std::string& path, const char* interface,
                                    const char* member) const {
    return connection_.request({systemd_.c_str(), path.c_str(), interface, member});
}

bus::MethodCall Manager::bus_request(const char* member, const char* argument) const {
    bus::MethodCall made = connection_.request({kBus, kBusPath, kBus, member});
    made.add("s", argument);
    return made;
}

Result<bus::Message> Manager::ask(const bus::MethodCall& request, Deadline deadline) {
    return connection_.call(request, deadline);
}

Result<bus::Message> Manager::change(const bus::MethodCall& request, Deadline deadline) {
    crash_point("bus.call.before");
    auto answer = connection_.call(request, deadline);
    crash_point("bus.call.after");
    return answer;
}

Result<bus::PendingCall> Manager::begin_change(const bus::MethodCall& request) {
    crash_point("bus.call.before");
    return connection_.begin(request);
}

Result<bus::Message> Manager::end_change(bus::PendingCall call, Deadline deadline) {
    TRY(next_queued());
    while (!call.is_answered()) {
        TRY(connection_.wait(deadline));
        TRY(next_queued());
    }
    crash_point("bus.call.after");
    return std::move(call).reply();
}

Result<bus::Message> Manager::next(Deadline deadline) {
    auto message = TRY(connection_.next(deadline));
    return unless_replaced(std::move(message));
}

Result<bus::Message> Manager::next_queued() {
    auto message = TRY(connection_.next_queued());
    if (!message) return message;
    return unless_replaced(std::move(message));
}

Result<bus::Message> Manager::unless_replaced(bus::Message message) {
    replaced_ = is_replacement_of_systemd(message);
    if (replaced_) return fail(Code::unavailable, "systemd was replaced during the call");
    return message;
}

bool Manager::is_signal(const bus::Message& message, const char* member) const {
    return is_signal_of(message, kManagerInterface, member);
}

bool Manager::is_signal_of(const bus::Message& message, const char* interface,
                           const char* member) const {
    return bus::is_signal(message, systemd_, interface, member);
}

Result<std::string> read_text(const bus::Message& message, const char* type) {
    const char* text = nullptr;
    TRY(bus::read(message, type, &text));
    return std::string(text);
}

}  // namespace kubexm::executor
