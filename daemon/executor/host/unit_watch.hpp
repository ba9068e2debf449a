#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"

namespace kubexm::executor {

/// Systemd's signals about some units, on a connection of its own. May be opened, which waits for
/// the bus, on another thread than the one that reads it.
class UnitWatch {
public:
    /// `address` of a bus, for tests; empty: the system bus.
    static Result<UnitWatch> open(const std::string& address, std::vector<std::string> units,
                                  Deadline deadline);
    UnitWatch(UnitWatch&&) noexcept;
    UnitWatch& operator=(UnitWatch&&) noexcept;
    ~UnitWatch();

    /// Readable when changed() has something to read.
    int fd() const;

    /// The units whose state may have changed since the last call; all of them where unit files
    /// changed or systemd reloaded them. Does not wait. unavailable: the bus or systemd was lost or
    /// replaced; open another one.
    Result<std::set<std::string>> changed();

private:
    struct Impl;
    explicit UnitWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::executor
