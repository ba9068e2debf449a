#pragma once

#include <string>
#include <utility>

#include "daemon/executor/host/bus.hpp"

// Private to the module: PID 1 on a message bus.

namespace kubexm::executor {

inline constexpr const char* kManagerInterface = "org.freedesktop.systemd1.Manager";

class Manager {
public:
    /// unavailable: no bus, or no systemd on it.
    static Result<Manager> connect(const std::string& address, bus::Deadline deadline);

    /// False where the bus or systemd went away: connect again.
    bool still_there(bus::Deadline deadline);

    /// A method of the manager.
    bus::Request request(const char* member) const;
    template <typename... Values>
    bus::Request request(const char* member, const char* types, Values... values) const {
        bus::Request made = request(member);
        made.add(types, values...);
        return made;
    }

    /// A method of another object of systemd's.
    bus::Request request_to(const std::string& path, const char* interface,
                            const char* member) const;

    /// A method of the bus itself, with its one argument.
    bus::Request bus_request(const char* member, const char* argument) const;

    /// Calls a method that changes nothing beyond this connection.
    Result<bus::Message> ask(const bus::Request& request, bus::Deadline deadline);

    /// Calls a method that changes the host: with crash points around it.
    Result<bus::Message> change(const bus::Request& request, bus::Deadline deadline);

    void send(const bus::Request& request) { connection_.send(request); }

    /// The next signal. unavailable: the bus or systemd went away.
    Result<bus::Message> next(bus::Deadline deadline);

    /// Whether a signal is the manager's own.
    bool is_signal(const bus::Message& message, const char* member) const;

private:
    explicit Manager(bus::Connection connection) : connection_(std::move(connection)) {}
    Result<> find_systemd(bus::Deadline deadline);

    bus::Connection connection_;
    std::string systemd_;  // its unique name: another one after it executed itself again
    bool replaced_ = false;
};

/// Reads one string of an answer: a path, a state.
Result<std::string> read_text(const bus::Message& message, const char* type);

}  // namespace kubexm::executor
