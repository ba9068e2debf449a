#include "fake_systemd.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "scratch.hpp"

namespace kubexm::executor {

namespace {

constexpr const char* kUnit = "/org/freedesktop/systemd1/unit/a_2eservice";

void answer_nothing(Peer& peer, sd_bus_message* call) { peer.reply(call, ""); }

void answer_with_done_job(Peer& peer, sd_bus_message* call) {
    peer.reply(call, "o", kJob);
    peer.end_job(kJob, "done");
}

void answer_with_no_links(Peer& peer, sd_bus_message* call) { peer.reply(call, "a(sss)", 0); }

std::map<std::string, FakeSystemd::Answer> default_answers() {
    std::map<std::string, FakeSystemd::Answer> answers;
    for (const char* member : {"AddMatch", "RemoveMatch", "Subscribe", "Unsubscribe", "Reload",
                               "ResetFailedUnit", "Cancel", "UnrefUnit"}) {
        answers[member] = answer_nothing;
    }
    for (const char* member : {"StartUnit", "StopUnit", "RestartUnit", "StartTransientUnit"}) {
        answers[member] = answer_with_done_job;
    }
    for (const char* member : {"DisableUnitFiles", "MaskUnitFiles", "UnmaskUnitFiles"}) {
        answers[member] = answer_with_no_links;
    }
    answers["ListUnitsByPatterns"] = [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a(ssssssouso)", 0);
    };
    answers["Hello"] = [](Peer& peer, sd_bus_message* call) { peer.reply(call, "s", ":1.9"); };
    answers["LoadUnit"] = [](Peer& peer, sd_bus_message* call) { peer.reply(call, "o", kUnit); };
    answers["GetAll"] = [](Peer& peer, sd_bus_message* call) { peer.reply(call, "a{sv}", 0); };
    answers["Get"] = [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "v", "s", "running");
    };
    answers["GetUnitFileState"] = [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "s", "enabled");
    };
    answers["EnableUnitFiles"] = [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "ba(sss)", 1, 0);
    };
    answers["GetNameOwner"] = [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "s", peer.owner().c_str());
    };
    answers["RefUnit"] = [](Peer& peer, sd_bus_message* call) {
        peer.refuse(call, "org.freedesktop.systemd1.NoSuchUnit", "Unit a.service not loaded.");
    };
    return answers;
}

std::string text_of_container(sd_bus_message* from, char type, const char* contents) {
    sd_bus_message_enter_container(from, type, contents);
    const std::string inside = text_of(from);
    sd_bus_message_exit_container(from);
    if (type == 'a') return "[" + inside + "]";
    return type == 'v' ? inside : "(" + inside + ")";
}

std::string text_of_basic(sd_bus_message* from, char type) {
    if (type == 's' || type == 'o') {
        const char* text = nullptr;
        sd_bus_message_read(from, type == 's' ? "s" : "o", &text);
        return text;
    }
    std::uint64_t number = 0;  // large enough for all of them, and little-endian
    sd_bus_message_read_basic(from, type, &number);
    return std::to_string(number);
}

}  // namespace

std::string text_of(sd_bus_message* call) {
    std::string text;
    char type = 0;
    const char* contents = nullptr;
    while (sd_bus_message_peek_type(call, &type, &contents) > 0) {
        if (!text.empty()) text += ", ";
        text += contents != nullptr ? text_of_container(call, type, contents)
                                    : text_of_basic(call, type);
    }
    return text;
}

void Peer::write_garbage() {
    flush();
    const std::string bytes(64, '!');
    EXPECT_EQ(::write(sd_bus_get_fd(bus_), bytes.data(), bytes.size()), 64);
}

FakeSystemd::FakeSystemd() : answers_(default_answers()) {
    listener_ = listen_at(directory_ / "bus", SOCK_NONBLOCK, 8);
    wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    thread_ = std::thread([this] { serve(); });
}

FakeSystemd::~FakeSystemd() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    ::eventfd_write(wakeup_.get(), 1);
    thread_.join();
}

void FakeSystemd::when(const std::string& member, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_[member] = std::move(answer);
}

void FakeSystemd::when_first(const std::string& member, Answer answer) {
    const std::lock_guard lock(mutex_);
    first_answers_[member] = std::move(answer);
}

void FakeSystemd::act(const std::function<void(Peer&)>& action) {
    std::packaged_task<void(Peer&)> task([&](Peer& peer) {
        action(peer);
        peer.flush();  // before act() returns
    });
    auto done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        action_ = std::move(task);
    }
    ::eventfd_write(wakeup_.get(), 1);
    done.get();
}

void FakeSystemd::repeat(std::function<void(Peer&)> action) {
    const std::lock_guard lock(mutex_);
    repeated_ = std::move(action);
}

void FakeSystemd::replace_systemd() {
    act([this](Peer& peer) {
        const std::lock_guard lock(mutex_);
        owner_ = ":1.2";
        peer.emit("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                  "org.freedesktop.systemd1", kOwner, "");
        peer.emit("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                  "org.freedesktop.systemd1", "", ":1.2");
    });
}

std::vector<std::string> FakeSystemd::calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::vector<std::string> FakeSystemd::calls_of_interest() {
    static const std::set<std::string> kBusCalls = {"Hello",     "AddMatch",    "RemoveMatch",
                                                    "Subscribe", "Unsubscribe", "GetNameOwner"};
    auto calls = this->calls();
    std::erase_if(calls, [](const std::string& call) {
        return kBusCalls.contains(call.substr(0, call.find('(')));
    });
    return calls;
}

/// False: the fake is stopping.
bool FakeSystemd::wait_for(int fd, short events, std::uint64_t until) {
    std::array<pollfd, 2> watched{pollfd{fd, events, 0}, pollfd{wakeup_.get(), POLLIN, 0}};
    int timeout = -1;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return false;
        if (until != UINT64_MAX) timeout = 10;  // sd-bus has a timer
        if (action_ || repeated_) timeout = 0;
    }
    ::poll(watched.data(), watched.size(), timeout);
    eventfd_t woken = 0;
    ::eventfd_read(wakeup_.get(), &woken);
    return true;
}

void FakeSystemd::serve() {
    while (wait_for(listener_.get(), POLLIN, UINT64_MAX)) {
        const int client =
            ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client >= 0) serve_client(client);
    }
}

void FakeSystemd::serve_client(int fd) {
    sd_bus* bus = nullptr;
    sd_bus_new(&bus);
    sd_bus_set_fd(bus, fd, fd);
    sd_bus_set_server(bus, 1, sd_id128_t{{1}});
    sd_bus_set_anonymous(bus, 1);
    const auto on_message = [](sd_bus_message* message, void* self, sd_bus_error*) {
        return static_cast<FakeSystemd*>(self)->handle(sd_bus_message_get_bus(message), message);
    };
    sd_bus_add_filter(bus, nullptr, on_message, this);
    sd_bus_start(bus);
    int done = 1;
    while (done > 0 && sd_bus_is_open(bus) > 0) {
        done = sd_bus_process(bus, nullptr);
        if (done == 0) done = act_or_wait(bus) ? 1 : 0;
    }
    sd_bus_close_unref(bus);
}

/// False: the fake is stopping.
bool FakeSystemd::act_or_wait(sd_bus* bus) {
    std::unique_lock lock(mutex_);
    Peer peer(bus, owner_);
    auto action = std::exchange(action_, {});
    const auto repeated = repeated_;
    lock.unlock();
    if (repeated) repeated(peer);
    if (action) {
        (*action)(peer);
        return true;
    }
    std::uint64_t until = UINT64_MAX;
    sd_bus_get_timeout(bus, &until);
    const int events = sd_bus_get_events(bus);
    return events >= 0 && wait_for(sd_bus_get_fd(bus), static_cast<short>(events), until);
}

FakeSystemd::Answer FakeSystemd::answer_to(const std::string& member) {
    const std::lock_guard lock(mutex_);
    if (auto first = first_answers_.extract(member)) return first.mapped();
    const auto found = answers_.find(member);
    return found == answers_.end() ? Answer() : found->second;
}

int FakeSystemd::handle(sd_bus* bus, sd_bus_message* call) {
    if (sd_bus_message_is_method_call(call, nullptr, nullptr) == 0) return 0;
    const std::string member = sd_bus_message_get_member(call);
    const std::string destination = sd_bus_message_get_destination(call);
    std::unique_lock lock(mutex_);
    calls_.push_back(member + "(" + text_of(call) + ")");
    Peer peer(bus, owner_);
    const bool deliverable = destination == owner_ || destination == "org.freedesktop.DBus";
    lock.unlock();
    sd_bus_message_rewind(call, 1);
    if (!deliverable) {
        peer.refuse(call, SD_BUS_ERROR_SERVICE_UNKNOWN, "the name has no owner");
    } else if (const Answer answer = answer_to(member)) {
        answer(peer, call);
    } else {
        peer.refuse(call, SD_BUS_ERROR_UNKNOWN_METHOD, member.c_str());
    }
    return 1;
}

}  // namespace kubexm::executor
