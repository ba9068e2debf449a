#pragma once

#include <systemd/sd-bus.h>

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/base/fd.hpp"
#include "tests/unit/temp_directory.hpp"

// A message bus with systemd: one thread that speaks D-Bus on a socket in a temporary directory. By
// default every call succeeds; tests override single replies.

namespace kubexm::executor {

inline constexpr const char* kOwner = ":1.1";  // systemd's unique name on the fake bus
inline constexpr const char* kJob = "/org/freedesktop/systemd1/job/7";

/// The server side of a client's connection.
class Peer {
public:
    Peer(sd_bus* bus, std::string owner) : bus_(bus), owner_(std::move(owner)) {}

    template <typename... Values>
    void reply(sd_bus_message* call, const char* types, Values... values) {
        sd_bus_reply_method_return(call, types, values...);
    }
    void refuse(sd_bus_message* call, const char* name, const char* text) {
        sd_bus_reply_method_errorf(call, name, "%s", text);
    }

    /// A signal of the manager, sent by systemd.
    template <typename... Values>
    void signal(const char* member, const char* types, Values... values) {
        emit(owner_.c_str(), "org.freedesktop.systemd1.Manager", member, types, values...);
    }
    template <typename... Values>
    void emit(const char* sender, const char* interface, const char* member, const char* types,
              Values... values) {
        emit_of(sender, "/org/freedesktop/systemd1", interface, member, types, values...);
    }
    /// Of another object.
    template <typename... Values>
    void emit_of(const char* sender, const char* object, const char* interface, const char* member,
                 const char* types, Values... values) {
        sd_bus_message* made = nullptr;
        sd_bus_message_new_signal(bus_, &made, object, interface, member);
        sd_bus_message_set_sender(made, sender);
        sd_bus_message_append(made, types, values...);
        sd_bus_send(bus_, made, nullptr);
        sd_bus_message_unref(made);
    }

    void end_job(const char* job, const char* result) {
        signal("JobRemoved", "uoss", 7U, job, "a.service", result);
    }

    const std::string& owner() const { return owner_; }

    /// Bytes that are not D-Bus.
    void write_garbage();
    void flush() { sd_bus_flush(bus_); }
    void hang_up() { sd_bus_close(bus_); }

private:
    sd_bus* bus_;
    std::string owner_;
};

class FakeSystemd {
public:
    using Answer = std::function<void(Peer&, sd_bus_message*)>;

    FakeSystemd();
    FakeSystemd(const FakeSystemd&) = delete;
    FakeSystemd& operator=(const FakeSystemd&) = delete;
    ~FakeSystemd();

    std::string address() const { return "unix:path=" + (directory_ / "bus"); }
    std::filesystem::path directory() const { return directory_.path(); }

    /// Replies to calls of a method from now on.
    void when(const std::string& member, Answer answer);

    /// Replies to the next call only.
    void when_first(const std::string& member, Answer answer);

    /// Runs on the thread of the bus, with the open connection, and waits for the end.
    void act(const std::function<void(Peer&)>& action);

    /// Repeats an action while the bus is idle.
    void repeat(std::function<void(Peer&)> action);

    /// systemd re-executes: it reconnects with another unique name.
    void replace_systemd();

    /// Every call so far, with its arguments: "StartUnit(a.service, replace)".
    std::vector<std::string> calls();

    /// The same without calls of the bus and subscriptions.
    std::vector<std::string> calls_of_interest();

private:
    void serve();
    void serve_client(int fd);
    bool wait_for(int fd, short events, std::uint64_t until);
    bool act_or_wait(sd_bus* bus);
    int handle(sd_bus* bus, sd_bus_message* call);
    Answer answer_to(const std::string& member);

    TempDirectory directory_;
    Fd listener_;
    Fd wakeup_;
    std::mutex mutex_;
    std::map<std::string, Answer> answers_;
    std::map<std::string, Answer> first_answers_;
    std::vector<std::string> calls_;
    std::string owner_ = kOwner;
    std::function<void(Peer&)> repeated_;
    std::optional<std::packaged_task<void(Peer&)>> action_;
    bool stopping_ = false;
    std::thread thread_;
};

/// The arguments of a call as text.
std::string text_of(sd_bus_message* call);

}  // namespace kubexm::executor
