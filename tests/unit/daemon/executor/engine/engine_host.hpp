#pragma once

#include "../host/systemd_test.hpp"
#include "daemon/executor/engine/engine.hpp"

namespace kubexm::executor {

inline constexpr Caller kAgentCaller{998, 7};
inline constexpr Caller kRootCaller{0, 1};

MATCHER_P(IsState, state, "is a plan in that state") {
    if (!arg) *result_listener << arg.error().what;
    return arg && *arg == state;
}

/// A plan of one step that needs only a directory.
inline model::Plan link_plan(const std::string& id, const std::string& path = "/etc/link") {
    return {id, "machine-1", {model::Symlink{path, "target"}}};
}

/// An engine for a scratch host; the allow-list permits links and blocks in /etc.
class EngineHost : public SystemdTest {
protected:
    EngineHost() {
        std::filesystem::create_directory(state());
        std::filesystem::create_directory(scratch_.at("/etc"));
        have_no_kubelet();
    }
    /// As the checks for nodes of other installations see it.
    void have_no_kubelet() {
        fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 2, "ActiveState", "s", "inactive", "Job", "(uo)", 0U, "/");
        });
        fake.when("GetUnitFileState",
                  [](Peer& peer, sd_bus_message* call) { peer.reply(call, "s", "disabled"); });
        fake.when("Get", [](Peer& peer, sd_bus_message* call) {
            const char* interface = nullptr;
            const char* name = nullptr;
            ::sd_bus_message_rewind(call, 1);
            ASSERT_GT(::sd_bus_message_read(call, "ss", &interface, &name), 0);
            if (std::string_view(name) == "UnitPath") {
                return peer.reply(call, "v", "as", 1, "/etc/systemd/system");
            }
            peer.reply(call, "v", "s", "running");
        });
    }
    std::string state() const { return scratch_.top() / "state"; }

    /// Waits of an undo take no time; they are remembered.
    Result<PlanState> carried_out(const PlanRecord& record, const Stop& stop = {}) {
        const auto wait = [&](std::chrono::seconds time, const Stop&) {
            waits_.push_back(time);
            on_wait_();
        };
        return engine.carry_out(record, stop, {[](const Report&) {}, [] {}, wait});
    }
    Result<PlanState> applied(const model::Plan& plan, const Caller& caller = kAgentCaller) {
        auto record = engine.accept(plan, {}, caller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }

    /// From a copy: the engine has the journal open.
    std::vector<std::string> audit_trail() const {
        const std::string copy = scratch_.top() / "copy";
        std::filesystem::copy(state(), copy, std::filesystem::copy_options::recursive);
        auto journal = Journal::open(copy, {});
        if (!journal) return {journal.error().what};
        std::vector<std::string> found;
        const auto trail = journal->audit_trail(100).value();
        found.reserve(trail.size());
        for (const AuditRecord& each : trail) {
            found.push_back(each.event + ": " + each.detail);
        }
        return found;
    }

    std::vector<std::chrono::seconds> waits_;
    std::function<void()> on_wait_ = [] {};
    Scratch scratch_;
    Root root_ = scratch_.root();
    Engine engine{state(),
                  root_,
                  systemd,
                  {.directories = {{"symlink", {"/etc"}}, {"managed-block", {"/etc"}}}}};
};

}  // namespace kubexm::executor
