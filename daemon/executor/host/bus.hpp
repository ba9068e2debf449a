#pragma once

#include <systemd/sd-bus.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

// Private to the module: sd-bus with owners, deadlines and errors as values. There are no
// callbacks: a call returns its answer, and next() returns what else comes in.

namespace kubexm::executor::bus {

using Deadline = std::chrono::steady_clock::time_point;

/// 0 where it has passed.
std::chrono::microseconds left_until(Deadline deadline);

struct Release {
    // Does not flush: that would wait for a peer that may never read.
    void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
    void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, Release>;

struct Method {
    const char* destination;
    const char* path;
    const char* interface;
    const char* member;
};

/// A method call in the making. What cannot be sent (text that is no UTF-8) is `invalid` when it
/// is called.
class Request {
public:
    Request(sd_bus* bus, const Method& method);

    /// Values as for sd_bus_message_append().
    template <typename... Values>
    Request& add(const char* types, Values... values) {
        return append([&] { return sd_bus_message_append(message_.get(), types, values...); });
    }
    Request& add_strings(const std::vector<std::string>& strings);
    Request& open(char kind, const char* contents);
    Request& close();

    /// The message, if all of it could be put together.
    Result<sd_bus_message*> message() const;

private:
    template <typename Step>
    Request& append(const Step& step) {
        if (problem_ >= 0) problem_ = step();
        return *this;
    }

    Message message_;
    const char* member_;
    int problem_;
};

class Connection {
public:
    /// Connects to a message bus and says hello. unavailable: nobody, or no bus, is there.
    static Result<Connection> open(const std::string& address, Deadline deadline);

    Request request(const Method& method) const { return {bus_.get(), method}; }

    /// The answer; its error by name (see bus_error.hpp). timeout: none came before the deadline.
    Result<Message> call(const Request& request, Deadline deadline);

    /// A call whose answer does not matter.
    void send(const Request& request);

    /// The next message that is no answer to a call, such as a signal.
    Result<Message> next(Deadline deadline);

    /// The same without waiting: no message where there is none.
    Result<Message> next_if_there();

private:
    explicit Connection(sd_bus* bus) : bus_(bus) {}
    Result<> get_ready(const std::string& address, Deadline deadline);

    std::unique_ptr<sd_bus, Release> bus_;
};

std::unexpected<Error> not_as_expected(sd_bus_message* message, const char* types);

/// Reads values as sd_bus_message_read() does. internal: the message holds something else.
template <typename... Values>
Result<> read(const Message& message, const char* types, Values*... values) {
    if (sd_bus_message_read(message.get(), types, values...) <= 0) {
        return not_as_expected(message.get(), types);
    }
    return {};
}

/// Whether it is the signal `member` of `interface`, sent by `sender`. The bus vouches for the
/// sender: anybody on it may send signals that look like another's.
bool is_signal(const Message& message, std::string_view sender, const char* interface,
               const char* member);

}  // namespace kubexm::executor::bus
