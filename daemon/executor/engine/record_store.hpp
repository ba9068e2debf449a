#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/recovery.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor {

/// Everything the executor remember.
struct Records {
    Journal journal;
    Vault vault;
};

/// The state directory: opened when first needed and again after a fault. A damaged journal is set
/// aside, also one whose damage is met only at work, and the directory stays closed until a person
/// has decided. Worker thread.
class RecordStore {
public:
    explicit RecordStore(std::string directory) : directory_(std::move(directory)) {}

    /// Lets `work` have the records and returns what it returns, a Result. Errors are also those of
    /// Journal::open() and Vault::open(). May be called while other work has them, as looks are
    /// served between the steps of a plan.
    template <typename Work>
    std::invoke_result_t<Work, Records&> use(const Work& work) {
        auto records = open();
        if (!records) return std::unexpected(records.error());
        ++users_;
        auto outcome = work(**records);
        --users_;
        if (!outcome && outcome.error().code == Code::corrupt) mark_suspect();
        return outcome;
    }
    /// After a fault: everything is checked from the beginning before it is used again.
    void mark_suspect() { suspect_ = true; }

    /// What is in the journal; of a damaged one, what can still be read.
    Result<Recovered> look();
    /// What a person decided about a damaged journal. conflict: it is sound.
    enum class Decision { restore, discard };
    Result<> decide(Decision decision, std::uint32_t uid, std::int64_t pid);

private:
    Result<Records*> open();
    std::unexpected<Error> quarantine_journal(const Error& damage) const;

    std::string directory_;
    std::optional<Records> records_;
    int users_ = 0;
    bool suspect_ = false;
};

}  // namespace kubexm::executor
