#include "daemon/executor/journal/readable_rows.hpp"

#include <fmt/format.h>

#include <ranges>
#include <set>
#include <utility>

#include "daemon/executor/journal/integrity.hpp"
#include "daemon/executor/journal/rows.hpp"

namespace kubexm::executor::journal {

namespace {

using sqlite::Database;

constexpr int kMissesInARow = 10000;      // more rows than one page of a tree leads to
constexpr std::size_t kMaxFindings = 50;  // lines

class Findings {
public:
    explicit Findings(std::vector<std::string>& lines) : lines_(lines) {}
    void add(std::string line) {
        if (lines_.size() < kMaxFindings) lines_.push_back(std::move(line));
    }

private:
    std::vector<std::string>& lines_;
};

/// Reads the rows of a table whose tree has unreadable pages.
template <typename Row>
class Collector {
public:
    Collector(const Database& database, std::map<std::int64_t, Row>& found, Findings& findings)
        : database_(database), found_(found), findings_(findings) {}

    void collect() {
        if (scan("ORDER BY sequence")) return;
        const std::int64_t before = found_.empty() ? 0 : found_.rbegin()->first;
        scan("ORDER BY sequence DESC");
        const auto after = found_.upper_bound(before);
        fill_gap(before, after == found_.end() ? INT64_MAX : after->first);
    }

private:
    /// False: a page on the way cannot be read.
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

    /// Reads each row by its key: the path to it may avoid the damage.
    void fill_gap(std::int64_t before, std::int64_t after) {
        int misses = 0;
        for (std::int64_t key = before + 1; key < after && misses < kMissesInARow; ++key) {
            auto statement = select<Row>(database_, "WHERE sequence = ?", key);
            const bool found = statement && statement->step().value_or(false);
            misses = found ? 0 : misses + 1;
            if (found) take(*statement);
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
        findings_.add(error.what);
        return false;
    }

    const Database& database_;
    std::map<std::int64_t, Row>& found_;
    Findings& findings_;
};

template <typename Row>
void collect_table(const Database& database, std::map<std::int64_t, Row>& found,
                   Findings& findings) {
    Collector<Row>(database, found, findings).collect();
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

/// Drops plans with an unreadable step; their ids stay known.
void collect_all_steps(const Database& database, ReadableRows& rows, Findings& findings) {
    for (auto plan = rows.plans.begin(); plan != rows.plans.end();) {
        if (collect_steps(database, plan->second)) {
            ++plan;
            continue;
        }
        findings.add(fmt::format("plan {}: not all steps can be read", plan->second.plan.id));
        rows.seen.emplace(plan->first, plan->second.plan.id);
        plan = rows.plans.erase(plan);
    }
}

void collect_seen(const Database& database, ReadableRows& rows, Findings& findings) {
    auto statement = database.query("SELECT sequence, id FROM seen");
    auto more = statement ? statement->step() : std::unexpected(statement.error());
    for (; more && *more; more = statement->step()) {
        rows.seen.emplace(statement->integer(0), statement->text(1));
    }
    if (!more) findings.add(more.error().what);
}

/// A page with older content can contain a row twice: the first one is used.
template <typename Row, typename Name>
void drop_duplicates(std::map<std::int64_t, Row>& rows, const Name& name) {
    std::set<std::string> names;
    std::erase_if(rows, [&](const auto& item) { return !names.insert(name(item.second)).second; });
}

/// The owner of objects whose owners cannot be read: root can undo them.
constexpr const char* kNobody = "recovered";

/// The newest row wins where a page with older content has an owner of an entry twice.
void collect_owners(const Database& database, ReadableRows& rows, Findings& findings) {
    std::map<std::int64_t, LedgerOwner> found;
    collect_table(database, found, findings);
    std::set<std::string> names;
    for (auto& [sequence, owner] : found | std::views::reverse) {
        const auto entry = rows.ledger.find(owner.entry);
        if (entry == rows.ledger.end()) continue;
        if (!names.insert(fmt::format("{} {}", owner.entry, owner.owner)).second) continue;
        entry->second.owners.insert(entry->second.owners.begin(), std::move(owner));
    }
    std::int64_t next = found.empty() ? 1 : found.rbegin()->first + 1;
    for (auto& [sequence, entry] : rows.ledger) {
        if (!entry.owners.empty()) continue;
        findings.add(fmt::format("{} {}: no owner can be read; undo it with kubexmctl undo {}",
                                 entry.type, entry.target, kNobody));
        entry.owners.push_back({next++, sequence, kNobody, entry.step, ""});
    }
}

}  // namespace

void collect(const Database& database, ReadableRows& rows) {
    Findings findings(rows.damage);
    if (auto valid = verify_structure(database); !valid) findings.add(valid.error().what);
    collect_table(database, rows.ledger, findings);
    collect_table(database, rows.plans, findings);
    collect_table(database, rows.outcomes, findings);
    drop_duplicates(rows.ledger, [](const LedgerEntry& entry) {
        return fmt::format("{} {}", entry.type, entry.target);
    });
    collect_owners(database, rows, findings);
    drop_duplicates(rows.outcomes, [](const OutcomeRecord& row) {
        return fmt::format("{} {} {}", row.owner, name_of(row.purpose), name_of(row.state));
    });
    drop_duplicates(rows.plans, [](const PlanRow& row) { return row.plan.id; });
    collect_all_steps(database, rows, findings);
    collect_seen(database, rows, findings);
}

}  // namespace kubexm::executor::journal
