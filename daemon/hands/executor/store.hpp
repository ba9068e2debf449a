#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/hands/journal/journal.hpp"
#include "daemon/hands/journal/salvage.hpp"
#include "daemon/hands/journal/vault.hpp"

namespace kubexm::hands {

/// Everything the hands remember.
struct Records {
    Journal journal;
    Vault vault;
};

/// The state directory: opened when first needed and again after a fault. A damaged journal is set
/// aside, and the directory stays closed until a person has decided. Worker thread.
class Store {
public:
    explicit Store(std::string directory) : directory_(std::move(directory)) {}

    /// Valid until close(). Errors are those of Journal::open() and Vault::open().
    Result<Records*> open();
    /// After a fault: everything is checked from the beginning before it is used again.
    void close() { records_.reset(); }

    /// What is in the journal; of a damaged one, what can still be read.
    Result<Salvage> look();
    /// What a person decided about a damaged journal. conflict: it is sound.
    enum class Decision { restore, discard };
    Result<> decide(Decision decision, std::uint32_t uid, std::int64_t pid);

private:
    std::unexpected<Error> put_aside(const Error& damage) const;

    std::string directory_;
    std::optional<Records> records_;
};

}  // namespace kubexm::hands
