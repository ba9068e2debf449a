#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/recovery.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor {

/// The persistent state of the executor.
struct Records {
    Journal journal;
    Vault vault;
};

/// The state directory: opened at first use and again after a fault. A damaged journal is
/// quarantined, also if the damage is found at work, and the directory stays closed until root
/// decides. Worker thread.
class RecordStore {
public:
    explicit RecordStore(std::string directory) : directory_(std::move(directory)) {}

    /// Calls `work` with the records and returns its Result; errors are also those of
    /// Journal::open() and Vault::open(). May be nested: queries are served between the steps of a
    /// plan.
    template <typename Work>
    std::invoke_result_t<Work, Records&> use(const Work& work) {
        Records* records = TRY(open());
        ++users_;
        auto outcome = work(*records);
        --users_;
        if (!outcome && outcome.error().code == Code::corrupt) mark_suspect();
        return outcome;
    }
    /// After a fault: the records are opened and checked again before the next use.
    void mark_suspect() { suspect_ = true; }

    /// The content of the journal; of a damaged one, the readable part.
    Result<Recovered> content();
    /// The decision about a damaged journal. conflict: it is not damaged.
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
