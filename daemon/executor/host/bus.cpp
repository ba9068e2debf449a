#include "daemon/executor/host/bus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/bus_error.hpp"

namespace kubexm::executor::bus {

namespace {

struct CallError {
    CallError() = default;
    CallError(const CallError&) = delete;
    CallError& operator=(const CallError&) = delete;
    ~CallError() { sd_bus_error_free(&error); }

    sd_bus_error error = SD_BUS_ERROR_NULL;
};

int keep_reply(sd_bus_message* reply, void* kept, sd_bus_error* /*for handlers of requests*/) {
    static_cast<Message*>(kept)->reset(sd_bus_message_ref(reply));
    return 1;
}

std::unexpected<Error> connection_lost(int problem) {
    return fail(Code::unavailable, fmt::format("lost the connection to the message bus: {}",
                                               std::generic_category().message(-problem)));
}

}  // namespace

std::chrono::microseconds left_until(Deadline deadline) {
    const auto left = deadline - std::chrono::steady_clock::now();
    return std::max(std::chrono::ceil<std::chrono::microseconds>(left),
                    std::chrono::microseconds::zero());
}

MethodCall::MethodCall(sd_bus* bus, const Method& method) : member_(method.member), problem_(0) {
    sd_bus_message* made = nullptr;
    problem_ = sd_bus_message_new_method_call(bus, &made, method.destination, method.path,
                                              method.interface, method.member);
    message_.reset(made);
    // The bus must not try to start systemd.
    append([&] { return sd_bus_message_set_auto_start(made, 0); });
}

MethodCall& MethodCall::add_strings(const std::vector<std::string>& strings) {
    open('a', "s");
    for (const std::string& text : strings) add("s", text.c_str());
    return close();
}

MethodCall& MethodCall::open(char kind, const char* contents) {
    return append([&] { return sd_bus_message_open_container(message_.get(), kind, contents); });
}

MethodCall& MethodCall::close() {
    return append([&] { return sd_bus_message_close_container(message_.get()); });
}

Result<sd_bus_message*> MethodCall::message() const {
    if (problem_ >= 0) return message_.get();
    return during("building a D-Bus message", from_errno("call", member_, -problem_).error());
}

Result<Connection> Connection::open(const std::string& address, Deadline deadline) {
    sd_bus* made = nullptr;
    if (const int done = sd_bus_new(&made); done < 0) {
        return from_errno("make", "bus connection", -done);
    }
    Connection connection(made);
    if (auto started = connection.start(address, deadline); !started) {
        return during(fmt::format("connecting to {}", address), started.error());
    }
    return connection;
}

Result<> Connection::start(const std::string& address, Deadline deadline) {
    int done = sd_bus_set_address(bus_.get(), address.c_str());
    if (done >= 0) done = sd_bus_set_bus_client(bus_.get(), 1);
    if (done >= 0) done = sd_bus_start(bus_.get());
    while (done >= 0 && sd_bus_is_ready(bus_.get()) == 0) {
        const auto left = left_until(deadline);
        if (left.count() == 0) return fail(Code::timeout, "no reply before the deadline");
        done = sd_bus_process(bus_.get(), nullptr);
        if (done == 0) done = sd_bus_wait(bus_.get(), static_cast<std::uint64_t>(left.count()));
    }
    if (done < 0) return connection_lost(done);
    return {};
}

Result<Message> Connection::call(const MethodCall& request, Deadline deadline) {
    sd_bus_message* message = TRY(request.message());
    const auto left = left_until(deadline);
    if (left.count() == 0) return fail(Code::timeout, "the deadline passed before the call");
    CallError call;
    sd_bus_message* reply = nullptr;
    if (sd_bus_call(bus_.get(), message, static_cast<std::uint64_t>(left.count()), &call.error,
                    &reply) < 0) {
        return from_bus(call.error);
    }
    return Message(reply);
}

Result<PendingCall> Connection::begin(const MethodCall& request) {
    sd_bus_message* message = TRY(request.message());
    PendingCall call;
    sd_bus_slot* slot = nullptr;
    const int sent =
        sd_bus_call_async(bus_.get(), &slot, message, keep_reply, call.reply_.get(), UINT64_MAX);
    if (sent < 0) return connection_lost(sent);
    call.slot_.reset(slot);
    return call;
}

Result<Message> PendingCall::reply() && {
    const sd_bus_error* error = sd_bus_message_get_error(reply_->get());
    if (error != nullptr) return from_bus(*error);
    return std::move(*reply_);
}

void Connection::send(const MethodCall& request) {
    auto message = request.message();
    if (!message) return;
    sd_bus_message_set_expect_reply(*message, 0);
    sd_bus_send(bus_.get(), *message, nullptr);
}

Result<Message> Connection::next_queued() {
    for (;;) {
        sd_bus_message* found = nullptr;
        const int done = sd_bus_process(bus_.get(), &found);
        if (done < 0) return connection_lost(done);
        if (found != nullptr || done == 0) return Message(found);
    }
}

Result<> Connection::wait(Deadline deadline) {
    const auto left = left_until(deadline);
    if (left.count() == 0) return fail(Code::timeout, "the deadline passed");
    const int done = sd_bus_wait(bus_.get(), static_cast<std::uint64_t>(left.count()));
    if (done < 0) return connection_lost(done);
    return {};
}

Result<Message> Connection::next(Deadline deadline) {
    // Checked first, so that a flood of messages cannot outlast the deadline.
    while (left_until(deadline).count() > 0) {
        auto message = next_queued();
        if (!message || *message) return message;
        TRY(wait(deadline));
    }
    return fail(Code::timeout, "the deadline passed");
}

std::unexpected<Error> unexpected_types(sd_bus_message* message, const char* types) {
    const char* found = sd_bus_message_get_signature(message, 1);
    return fail(Code::internal, fmt::format("D-Bus message: expected \"{}\", found \"{}\"", types,
                                            found != nullptr ? found : ""));
}

bool is_signal(const Message& message, std::string_view sender, const char* interface,
               const char* member) {
    const char* from = sd_bus_message_get_sender(message.get());
    return from != nullptr && from == sender &&
           sd_bus_message_is_signal(message.get(), interface, member) > 0;
}

}  // namespace kubexm::executor::bus
