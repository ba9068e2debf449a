#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/executor/journal/records.hpp"

// The tables of the journal as structs, one per row. A Table lists every column once; rows.hpp
// makes statements and seals from it.

namespace kubexm::executor::journal {

/// A plan without its steps, which have their own table.
struct PlanRow {
    std::int64_t sequence = 0;  // the newest plan has the highest
    std::uint32_t steps = 0;
    PlanRecord plan;
};

struct StepRow {
    std::int64_t plan = 0;  // PlanRow::sequence
    StepRecord step;
    std::int64_t ledger = 0;  // LedgerEntry::sequence of the changed object; 0: none
};

/// The failures in a row of plans with one hash.
struct FailureRow {
    std::string hash;
    std::int64_t plan = 0;  // PlanRow::sequence of the last one
    std::string error;
    std::uint32_t count = 0;
    std::int64_t last_at = 0;
};

/// Begin and end of the audit, one row. Without it a chain that lost its newest records would look
/// complete, and dropped records could not be told from lost ones.
struct AuditEnds {
    std::int64_t only = 1;
    std::int64_t first = 1;  // sequence of the oldest record
    std::string anchor;      // chain of the record before `first`
    std::int64_t last = 0;   // sequence of the newest record; first - 1: no records
    std::string head;        // chain of the record `last`
};

template <typename Row>
struct Table;

template <>
struct Table<PlanRow> {
    static constexpr std::string_view kName = "plans";
    static constexpr std::string_view kKey = "sequence";
    static void columns(auto& row, auto&& visit) {
        visit("sequence", row.sequence);
        visit("id", row.plan.id);
        visit("hash", row.plan.hash);
        visit("owner", row.plan.owner);
        visit("purpose", row.plan.purpose);
        visit("wanted", row.plan.wanted);
        visit("uid", row.plan.uid);
        visit("document", row.plan.document);
        visit("state", row.plan.state);
        visit("failures", row.plan.failures);
        visit("last_error", row.plan.last_error);
        visit("stays", row.plan.stays);
        visit("started_at", row.plan.started_at);
        visit("changed_at", row.plan.changed_at);
        visit("steps", row.steps);
    }
};

template <>
struct Table<StepRow> {
    static constexpr std::string_view kName = "steps";
    static constexpr std::string_view kKey = "plan, number";
    static void columns(auto& row, auto&& visit) {
        visit("plan", row.plan);
        visit("number", row.step.index);
        visit("state", row.step.state);
        visit("error", row.step.error);
        visit("ledger", row.ledger);
    }
};

template <>
struct Table<FailureRow> {
    static constexpr std::string_view kName = "failures";
    static constexpr std::string_view kKey = "hash";
    static void columns(auto& row, auto&& visit) {
        visit("hash", row.hash);
        visit("plan", row.plan);
        visit("error", row.error);
        visit("count", row.count);
        visit("last_at", row.last_at);
    }
};

template <>
struct Table<OutcomeRecord> {
    static constexpr std::string_view kName = "outcomes";
    static constexpr std::string_view kKey = "sequence";
    static void columns(auto& row, auto&& visit) {
        visit("sequence", row.sequence);
        visit("owner", row.owner);
        visit("purpose", row.purpose);
        visit("plan_id", row.plan_id);
        visit("wanted", row.wanted);
        visit("uid", row.uid);
        visit("state", row.state);
        visit("error", row.error);
        visit("stays", row.stays);
        visit("at", row.at);
    }
};

template <>
struct Table<LedgerEntry> {
    static constexpr std::string_view kName = "ledger";
    static constexpr std::string_view kKey = "sequence";
    static void columns(auto& row, auto&& visit) {
        visit("sequence", row.sequence);
        visit("type", row.type);
        visit("target", row.target);
        visit("step", row.step);
        visit("applied", row.applied);
        visit("written", row.written);
        visit("pre_image", row.pre_image);
    }
};

template <>
struct Table<LedgerOwner> {
    static constexpr std::string_view kName = "ledger_owners";
    static constexpr std::string_view kKey = "sequence";
    static void columns(auto& row, auto&& visit) {
        visit("sequence", row.sequence);
        visit("entry", row.entry);
        visit("owner", row.owner);
        visit("step", row.step);
        visit("plan_id", row.plan_id);
    }
};

/// The seal of an audit record is its chain.
template <>
struct Table<AuditRecord> {
    static constexpr std::string_view kName = "audit";
    static constexpr std::string_view kKey = "sequence";
    static void columns(auto& row, auto&& visit) {
        visit("sequence", row.sequence);
        visit("at", row.at);
        visit("uid", row.uid);
        visit("pid", row.pid);
        visit("event", row.event);
        visit("detail", row.detail);
    }
};

template <>
struct Table<AuditEnds> {
    static constexpr std::string_view kName = "audit_ends";
    static constexpr std::string_view kKey = "only";
    static void columns(auto& row, auto&& visit) {
        visit("only", row.only);
        visit("first", row.first);
        visit("anchor", row.anchor);
        visit("last", row.last);
        visit("head", row.head);
    }
};

}  // namespace kubexm::executor::journal
