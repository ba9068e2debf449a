#include "daemon/executor/journal/readable_rows.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "daemon/executor/journal/integrity.hpp"
#include "daemon/executor/journal/rows.hpp"

namespace kubexm::executor::journal {

namespace {

using sqlite::Database;

constexpr int kMissesInARow = 10000;    // more than one page of a tree can lead to
constexpr std::size_t kMaxDamage = 50;  // lines that a person may read

class Notes {
public:
    explicit Notes(std::vector<std::string>& lines) : lines_(lines) {}
    void add(std::string line) {
        if (lines_.size() < kMaxDamage) lines_.push_back(std::move(line));
    }

private:
    std::vector<std::string>& lines_;
};

/// Takes rows of a table out of trees of which some pages cannot be read.
template <typename Row>
class Collector {
public:
    Collector(const Database& database, std::map<std::int64_t, Row>& found, Notes& notes)
        : database_(database), found_(found), notes_(notes) {}

    void collect() {
        if (scan("ORDER BY sequence")) return;
        const std::int64_t before = found_.empty() ? 0 : found_.rbegin()->first;
        scan("ORDER BY sequence DESC");
        const auto after = found_.upper_bound(before);
        fill_gap(before, after == found_.end() ? INT64_MAX : after->first);
    }

private:
    /// False where a page in the way cannot be read.
    bool scan(std::string_view order) {
        auto statement = select<Row>(database_, order);
        if (!statement) return note(statement.error());
        for (;;) {
            auto more = statement->step();
            if (!more) return note(more.error());
            if (!*more) return true;
            take(*statement);
        }
    }

    /// Asks for each row by its key: the way to it may avoid the damage.
    void fill_gap(std::int64_t before, std::int64_t after) {
        int misses = 0;
        for (std::int64_t key = before + 1; key < after && misses < kMissesInARow; ++key) {
            auto statement = select<Row>(database_, "WHERE sequence = ?", key);
            const bool there = statement && statement->step().value_or(false);
            misses = there ? 0 : misses + 1;
            if (there) take(*statement);
        }
    }

    void take(const sqlite::Statement& statement) {
        auto [row, seal] = read_row<Row>(statement);
        if (seal == seal_of(row)) {
            found_.emplace(row.sequence, std::move(row));
        } else {
            note(broken_seal<Row>(statement).error());
        }
    }

    bool note(const Error& error) {
        notes_.add(error.what);
        return false;
    }

    const Database& database_;
    std::map<std::int64_t, Row>& found_;
    Notes& notes_;
};

template <typename Row>
void collect_table(const Database& database, std::map<std::int64_t, Row>& found, Notes& notes) {
    Collector<Row>(database, found, notes).collect();
}

bool collect_steps(const Database& database, PlanRow& row) {
    for (std::uint32_t index = 0; index < row.steps; ++index) {
        auto found = find<StepRow>(database, "WHERE plan = ? AND number = ?", row.sequence, index);
        const std::optional<StepRow> step = found.value_or(std::nullopt);
        if (!step) return false;
        row.plan.steps.push_back(step->step);
    }
    return true;
}

/// A plan that lost a step is dropped; its id stays known.
void collect_all_steps(const Database& database, ReadableRows& rows, Notes& notes) {
    for (auto plan = rows.plans.begin(); plan != rows.plans.end();) {
        if (collect_steps(database, plan->second)) {
            ++plan;
            continue;
        }
        notes.add(fmt::format("plan {}: not all of its steps can be read", plan->second.plan.id));
        rows.seen.emplace(plan->first, plan->second.plan.id);
        plan = rows.plans.erase(plan);
    }
}

void collect_seen(const Database& database, ReadableRows& rows, Notes& notes) {
    auto statement = database.query("SELECT sequence, id FROM seen");
    auto more = statement ? statement->step() : std::unexpected(statement.error());
    for (; more && *more; more = statement->step()) {
        rows.seen.emplace(statement->integer(0), statement->text(1));
    }
    if (!more) notes.add(more.error().what);
}

/// A page that fell back to an older content may hold a row twice: the first one counts.
template <typename Row, typename Name>
void drop_second(std::map<std::int64_t, Row>& rows, const Name& name) {
    std::set<std::string> names;
    std::erase_if(rows, [&](const auto& item) { return !names.insert(name(item.second)).second; });
}

}  // namespace

void collect(const Database& database, ReadableRows& rows) {
    Notes notes(rows.damage);
    if (auto good = verify_structure(database); !good) notes.add(good.error().what);
    collect_table(database, rows.ledger, notes);
    collect_table(database, rows.plans, notes);
    drop_second(rows.ledger, [](const LedgerEntry& entry) {
        return fmt::format("{} {}", entry.type, entry.target);
    });
    drop_second(rows.plans, [](const PlanRow& row) { return row.plan.id; });
    collect_all_steps(database, rows, notes);
    collect_seen(database, rows, notes);
}

}  // namespace kubexm::executor::journal
