#pragma once

#include <string>
#include <utility>

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/bus.hpp"

// Private to the module: PID 1 on a message bus.

namespace kubexm::executor {

// Not from the environment, which must not choose the bus of a process of root.
inline constexpr const char* kSystemBus = "unix:path=/run/dbus/system_bus_socket";
inline constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
inline constexpr const char* kManagerInterface = "org.freedesktop.systemd1.Manager";

class Manager {
public:
    /// unavailable: no bus, or no systemd on it.
    static Result<Manager> connect(const std::string& address, Deadline deadline);

    /// False: the bus or systemd was lost or replaced; connect again.
    bool is_connected(Deadline deadline);

    /// A method of the manager.
    bus::MethodCall request(const char* member) const;
    template <typename... Values>
    bus::MethodCall request(const char* member, const char* types, Values... values) const {
        bus::MethodCall made = request(member);
        made.add(types, values...);
        return made;
    }

    /// A method of another object of systemd.
    bus::MethodCall request_to(const std::string& path, const char* interface,
                               const char* member) const;

    /// A method of the message bus, with its argument.
    bus::MethodCall bus_request(const char* member, const char* argument) const;

    /// Calls a method that does not change the host.
    Result<bus::Message> ask(const bus::MethodCall& request, Deadline deadline);

    /// Calls a method that changes the host, between crash points.
    Result<bus::Message> change(const bus::MethodCall& request, Deadline deadline);

    /// The same in two parts: systemd works on the request in between. unavailable: it was
    /// replaced.
    Result<bus::PendingCall> begin_change(const bus::MethodCall& request);
    Result<bus::Message> end_change(bus::PendingCall call, Deadline deadline);

    void send(const bus::MethodCall& request) { connection_.send(request); }

    /// The next signal. unavailable: the bus or systemd was lost.
    Result<bus::Message> next(Deadline deadline);

    /// The same without waiting; null: no signal is queued.
    Result<bus::Message> next_queued();
    int fd() const { return connection_.fd(); }

    /// Whether it is this signal of the manager, sent by systemd.
    bool is_signal(const bus::Message& message, const char* member) const;
    /// Whether it is this signal of another interface, sent by systemd.
    bool is_signal_of(const bus::Message& message, const char* interface, const char* member) const;

private:
    explicit Manager(bus::Connection connection) : connection_(std::move(connection)) {}
    Result<> find_systemd(Deadline deadline);
    Result<bus::Message> unless_replaced(bus::Message message);

    bus::Connection connection_;
    std::string systemd_;  // its unique name on the bus, which changes when it re-executes
    bool replaced_ = false;
};

/// Reads a string ("s") or an object path ("o").
Result<std::string> read_text(const bus::Message& message, const char* type);

}  // namespace kubexm::executor
