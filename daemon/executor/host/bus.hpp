#pragma once

#include <systemd/sd-bus.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"

// Private to the module: sd-bus with RAII, deadlines and errors as values. There are no callbacks:
// a call returns its reply, or is begun and answered later, and next() returns the next other
// message.

namespace kubexm::executor::bus {

/// 0 after the deadline.
std::chrono::microseconds left_until(Deadline deadline);

struct Unref {
    // Does not flush, which would block on a peer that does not read.
    void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
    void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
    void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using Message = std::unique_ptr<sd_bus_message, Unref>;

struct Method {
    const char* destination;
    const char* path;
    const char* interface;
    const char* member;
};

/// Builds a method call. Text that is not UTF-8 is reported as `invalid` by message().
class MethodCall {
public:
    MethodCall(sd_bus* bus, const Method& method);

    /// Values as for sd_bus_message_append().
    template <typename... Values>
    MethodCall& add(const char* types, Values... values) {
        return append([&] { return sd_bus_message_append(message_.get(), types, values...); });
    }
    MethodCall& add_strings(const std::vector<std::string>& strings);
    MethodCall& open(char kind, const char* contents);
    MethodCall& close();

    Result<sd_bus_message*> message() const;

private:
    template <typename Step>
    MethodCall& append(const Step& step) {
        if (problem_ >= 0) problem_ = step();
        return *this;
    }

    Message message_;
    const char* member_;
    int problem_;
};

/// A call that was sent. Its reply arrives while the connection is used for anything else.
class PendingCall {
public:
    bool is_answered() const { return *reply_ != nullptr; }
    /// Once it is answered: the reply, or its error by name.
    Result<Message> reply() &&;

private:
    friend class Connection;
    std::unique_ptr<Message> reply_ = std::make_unique<Message>();  // its address stays the same
    std::unique_ptr<sd_bus_slot, Unref> slot_;                      // without it no reply is taken
};

class Connection {
public:
    /// Connects to a message bus and says hello. unavailable: no message bus at the address.
    static Result<Connection> open(const std::string& address, Deadline deadline);

    MethodCall request(const Method& method) const { return {bus_.get(), method}; }

    /// The reply, or its error by name (see bus_error.hpp). timeout: no reply before the deadline.
    Result<Message> call(const MethodCall& request, Deadline deadline);

    /// Sends a call and does not wait for its reply, for which there is no deadline.
    Result<PendingCall> begin(const MethodCall& request);

    /// A call without a reply.
    void send(const MethodCall& request);

    /// Readable when a message arrives.
    int fd() const { return sd_bus_get_fd(bus_.get()); }

    /// The next message that is not a reply, such as a signal.
    Result<Message> next(Deadline deadline);

    /// The same without waiting; null: no message is queued.
    Result<Message> next_queued();

    /// Until a message arrives. timeout: the deadline passed.
    Result<> wait(Deadline deadline);

private:
    explicit Connection(sd_bus* bus) : bus_(bus) {}
    Result<> start(const std::string& address, Deadline deadline);

    std::unique_ptr<sd_bus, Unref> bus_;
};

std::unexpected<Error> unexpected_types(sd_bus_message* message, const char* types);

/// Reads values as sd_bus_message_read() does. internal: the message has other types.
template <typename... Values>
Result<> read(const Message& message, const char* types, Values*... values) {
    if (sd_bus_message_read(message.get(), types, values...) <= 0) {
        return unexpected_types(message.get(), types);
    }
    return {};
}

/// Whether it is the signal `member` of `interface`, sent by `sender`. Any client of the bus may
/// send signals of any interface; only the sender, which the bus sets, is trustworthy.
bool is_signal(const Message& message, std::string_view sender, const char* interface,
               const char* member);

}  // namespace kubexm::executor::bus
