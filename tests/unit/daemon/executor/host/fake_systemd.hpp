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

// A message bus with a systemd on it: one thread that speaks D-Bus on a socket in a temporary
// directory. It answers as a systemd would in which everything works; tests say what is different.

namespace kubexm::executor {

inline constexpr const char* kOwner = ":1.1";  // systemd's unique name on the fake bus
inline constexpr const char* kJob = "/org/freedesktop/systemd1/job/7";

/// The bus as answers see it: the other end of one client's connection.
class Peer {
public:
    Peer(sd_bus* bus, std::string owner) : bus_(bus), owner_(std::move(owner)) {}

    template <typename... Values>
    void reply(sd_bus_message* call, const char* types, Values... values) {
        sd_bus_reply_method_return(call, types, values...);
    }
    void refuse(sd_bus_message* call, const char* name, const char* words) {
        sd_bus_reply_method_errorf(call, name, "%s", words);
    }

    /// A signal of the manager, by systemd itself unless said otherwise.
    template <typename... Values>
    void signal(const char* member, const char* types, Values... values) {
        emit(owner_.c_str(), "org.freedesktop.systemd1.Manager", member, types, values...);
    }
    template <typename... Values>
    void emit(const char* sender, const char* interface, const char* member, const char* types,
              Values... values) {
        sd_bus_message* made = nullptr;
        sd_bus_message_new_signal(bus_, &made, "/org/freedesktop/systemd1", interface, member);
        sd_bus_message_set_sender(made, sender);
        sd_bus_message_append(made, types, values...);
        sd_bus_send(bus_, made, nullptr);
        sd_bus_message_unref(made);
    }

    /// The end of a job.
    void end_job(const char* job, const char* result) {
        signal("JobRemoved", "uoss", 7U, job, "a.service", result);
    }

    const std::string& owner() const { return owner_; }

    /// Bytes that are no D-Bus.
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

    std::string address() const { return "unix:path=" + socket_.string(); }
    const std::filesystem::path& directory() const { return directory_; }

    /// From now on this is the answer to calls of a method.
    void when(const std::string& member, Answer answer);

    /// Once, and then as before.
    void when_first(const std::string& member, Answer answer);

    /// Runs on the bus's thread with the connection that is open, and returns when it is done.
    void act(const std::function<void(Peer&)>& action);

    /// The bus says this over and over while it has nothing else to do.
    void keep_saying(std::function<void(Peer&)> saying);

    /// systemd executes itself: its connection goes, and it is back under another name.
    void replace_systemd();

    /// Every call so far, with its arguments: "StartUnit(a.service, replace)".
    std::vector<std::string> calls();

    /// The same, of the manager and units alone: no talk with the bus, no subscriptions.
    std::vector<std::string> calls_of_interest();

private:
    void serve();
    void serve_client(int fd);
    bool wait_for(int fd, short events, std::uint64_t until);
    bool act_or_wait(sd_bus* bus);
    int handle(sd_bus* bus, sd_bus_message* call);
    Answer answer_to(const std::string& member);

    std::filesystem::path directory_;
    std::filesystem::path socket_;
    Fd listener_;
    Fd wakeup_;
    std::mutex mutex_;
    std::map<std::string, Answer> answers_;
    std::map<std::string, Answer> first_answers_;
    std::vector<std::string> calls_;
    std::string owner_ = kOwner;
    std::function<void(Peer&)> saying_;
    std::optional<std::packaged_task<void(Peer&)>> action_;
    bool stopping_ = false;
    std::thread thread_;
};

/// The arguments of a call as text.
std::string text_of(sd_bus_message* call);

}  // namespace kubexm::executor
