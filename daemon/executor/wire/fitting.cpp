#include "daemon/executor/wire/fitting.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "daemon/base/codec.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/owner.hpp"

namespace kubexm::wire {

namespace {

constexpr std::size_t kRoom = kMaxFrame - 256;  // for the envelope of the reply
constexpr codec::FieldLimits kReader;
/// Of the objects of an owner.
struct Details {
    std::size_t list = 0;  // elements
    std::size_t text = 0;  // bytes
};
constexpr std::array<Details, 3> kDetails{{{20, 512}, {5, 512}, {1, 128}}};

void cut(std::string& text, std::size_t most = kReader.string) {
    text = bounded_utf8(text, most);
    std::ranges::replace(text, '\0', ' ');  // no reader accepts it
}
void cut(auto&) {}
template <codec::Struct T>
void cut(T& value);
template <typename T>
void cut(std::vector<T>& list) {
    for (T& each : list) cut(each);
}
template <codec::Struct T>
void cut(T& value) {
    T::fields(value, [](std::string_view, auto& member) { cut(member); });
}

std::size_t size_of(const auto& value) { return codec::encode(value).dump().size(); }

/// The number of elements, from the first on, that fit `bytes`.
template <typename T>
std::size_t count_fitting(const std::vector<T>& list, std::size_t bytes) {
    std::size_t count = 0;
    for (const T& each : list) {
        const std::size_t needed = size_of(each) + 1;  // and a comma
        if (count == kReader.list || needed > bytes) break;
        bytes -= needed;
        ++count;
    }
    return count;
}

/// The number of elements that are left out.
template <typename T>
std::uint32_t shorten(std::vector<T>& list, std::size_t most) {
    const std::size_t excess = list.size() - std::min(list.size(), most);
    list.resize(list.size() - excess);
    return static_cast<std::uint32_t>(excess);
}

/// The list gets the room that the rest of the reply leaves.
template <typename T>
std::uint32_t fit_list(const auto& reply, std::vector<T>& list) {
    auto all = std::exchange(list, {});
    const std::size_t taken = std::min(size_of(reply), kRoom);
    const std::uint32_t left_out = shorten(all, count_fitting(all, kRoom - taken));
    list = std::move(all);
    return left_out;
}

void shorten_details(Outcome& outcome, const Details& most) {
    cut(outcome.error, most.text);
    outcome.unnamed += shorten(outcome.stays, most.list);
    for (model::Remaining& each : outcome.stays) {
        cut(each.object, most.text);
        cut(each.why, most.text);
    }
}

void shorten_details(ObservedOwner& owner, const Details& most) {
    for (Outcome& each : owner.outcomes) shorten_details(each, most);
    shorten(owner.pending, most.list);
    for (std::string& object : owner.pending) cut(object, most.text);
}

constexpr int kLastRank = 4;

bool is_released_by_root(const ObservedOwner& owner) {
    if (owner.outcomes.empty()) return false;
    const Outcome& last = owner.outcomes.front();
    return last.purpose == model::PlanPurpose::release && last.uid == 0;
}

/// kubexmd decides by the machines: by those that are here or about to be, and by those that root
/// released, which it must not join again. Then by who else has objects on the host.
int rank_of(const ObservedOwner& owner) {
    const auto runs = [](const Outcome& each) { return each.state == model::PlanState::running; };
    const bool is_present = owner.objects > 0 || std::ranges::any_of(owner.outcomes, runs);
    if (!model::is_machine_owner(owner.name)) return is_present ? 3 : kLastRank;
    if (is_present) return 0;
    return is_released_by_root(owner) ? 1 : 2;
}

/// The order stays.
void keep_most_important(std::vector<ObservedOwner>& owners, std::size_t bytes) {
    std::vector<ObservedOwner> by_rank;
    for (int rank = 0; rank <= kLastRank; ++rank) {
        std::ranges::copy_if(owners, std::back_inserter(by_rank),
                             [&](const ObservedOwner& each) { return rank_of(each) == rank; });
    }
    shorten(by_rank, count_fitting(by_rank, bytes));
    std::set<std::string> kept;
    for (const ObservedOwner& owner : by_rank) kept.insert(owner.name);
    std::erase_if(owners, [&](const ObservedOwner& each) { return !kept.contains(each.name); });
}

void fit(Observation& observation) {
    for (ObservedOwner& owner : observation.owners) shorten_details(owner, kDetails.front());
    cut(observation);
    shorten(observation.units, count_fitting(observation.units, kRoom / 4));
    shorten(observation.unconfirmed, count_fitting(observation.unconfirmed, kRoom / 8));
    auto owners = std::exchange(observation.owners, {});
    const std::size_t room = kRoom - size_of(observation);
    for (const Details& most : kDetails) {
        for (ObservedOwner& owner : owners) shorten_details(owner, most);
        if (size_of(owners) <= room) break;
    }
    keep_most_important(owners, room);
    observation.owners = std::move(owners);
}

void fit(PlanSummary& summary) { summary.unnamed += fit_list(summary, summary.stays); }
void fit(PreflightResult& result) {
    shorten(result.ignored, count_fitting(result.ignored, kRoom / 4));
    fit_list(result, result.findings);
}
void fit(StepPreview& preview) { fit_list(preview, preview.diff); }
void fit(TrustedAuthorities& trusted) { fit_list(trusted, trusted.authorities); }
void fit(UnitsChanged& changed) { fit_list(changed, changed.units); }
void fit(Drift& drift) { fit_list(drift, drift.objects); }
void fit(JournalState& state) { fit_list(state, state.damage); }

}  // namespace

Reply fitted(Reply reply) {
    std::visit(overloaded{
                   [](Observation& observation) { fit(observation); },
                   [](OneOf<Hello, Refused, Accepted, StepEvent, PermitsChanged,
                            BootstrapKubeconfig, JournalEntry, End> auto& each) { cut(each); },
                   [](auto& with_list) {
                       cut(with_list);
                       fit(with_list);
                   },
               },
               reply);
    return reply;
}

}  // namespace kubexm::wire
