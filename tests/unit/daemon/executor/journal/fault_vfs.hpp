#pragma once

#include <string>

namespace kubexm::executor {

/// SQLite's default VFS while it exists, with a fault. Counts the operations that change a file:
/// write, truncate, sync and remove. A sync is recorded but not executed, for speed.
class FaultVfs {
public:
    enum class Fault {
        none,
        disk_full,  // the operation fails, a write after half of its bytes
        io_error,   // the same
        kill,       // SIGKILL before the operation
        power_cut,  // the same, and writes since the last sync of a file are lost
    };
    struct Plan {
        Fault fault = Fault::none;
        int at = 0;            // the first operation it hits, counted from 1
        bool lasting = false;  // and all later ones
        std::string lost;      // power cut: only files with this suffix lose writes
    };

    FaultVfs();
    FaultVfs(const FaultVfs&) = delete;
    FaultVfs& operator=(const FaultVfs&) = delete;
    ~FaultVfs();

    void arm(const Plan& plan);
    void disarm();
    /// Since the last arm().
    bool was_hit() const;
};

}  // namespace kubexm::executor
