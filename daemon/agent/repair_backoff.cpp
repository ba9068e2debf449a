#include "daemon/agent/repair_backoff.hpp"

#include <algorithm>

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kImmediateRepairs = 3;
constexpr auto kFirstRepairWait = 5s;
constexpr auto kLongestRepairWait = 10min;
constexpr auto kForgetRepairs = 30min;

/// Doubled with every repair in a row.
std::chrono::seconds wait_after(std::uint32_t repairs) {
    constexpr std::uint32_t kMostDoublings = 7;
    const auto wait = kFirstRepairWait * (1U << std::min(repairs - 1, kMostDoublings));
    return std::min<std::chrono::seconds>(wait, kLongestRepairWait);
}

std::chrono::seconds wait_after_success(std::uint32_t repairs) {
    return repairs < kImmediateRepairs ? 0s : wait_after(repairs - kImmediateRepairs + 1);
}

}  // namespace

void note_repair(AgentState& state, const std::string& owner, std::chrono::sys_seconds now) {
    for (const wire::DriftedObject& each : state.executor.drift) {
        if (each.owner != owner) continue;
        RepairState& repairs = state.repairs[each.object];
        repairs.last = now;
        repairs.is_done = false;
        repairs.not_before = now + wait_after(++repairs.count);
    }
}

void note_repaired(AgentState& state, std::chrono::sys_seconds begun) {
    for (auto& [object, repairs] : state.repairs) {
        if (repairs.last == begun) repairs.is_done = true;
    }
}

void update_repairs(AgentState& state, std::chrono::sys_seconds now) {
    std::erase_if(state.repairs,
                  [&](const auto& each) { return now - each.second.last > kForgetRepairs; });
    for (auto& [object, repairs] : state.repairs) {
        if (repairs.is_done) repairs.not_before = repairs.last + wait_after_success(repairs.count);
    }
}

std::optional<std::chrono::sys_seconds> next_repair(const AgentState& state,
                                                    std::chrono::sys_seconds now) {
    std::optional<std::chrono::sys_seconds> next;
    for (const wire::DriftedObject& each : state.executor.drift) {
        const auto repairs = state.repairs.find(each.object);
        if (repairs == state.repairs.end() || repairs->second.not_before <= now) continue;
        next = std::min(next.value_or(repairs->second.not_before), repairs->second.not_before);
    }
    return next;
}

}  // namespace kubexm::agent
