#pragma once

#include <string>

namespace kubexm::executor {

/// SQLite's files, with a fault. While one of these lives, every database that is opened goes
/// through it. Counted are the operations that change a file: write, truncate, sync and remove. A
/// sync is only noted: nothing here cuts the power of the real machine, and its disk is slow.
class FaultVfs {
public:
    enum class Fault {
        none,
        disk_full,  // the operation is refused, a write after half of its bytes
        io_error,   // the same
        kill,       // SIGKILL before the operation
        power_cut,  // the same, and what was written since the last sync of a file is lost
    };
    struct Plan {
        Fault fault = Fault::none;
        int at = 0;            // the first operation it hits, counted from 1
        bool lasting = false;  // and all that follow
        std::string lost;      // power cut: only files whose name ends so lose something
    };

    FaultVfs();
    FaultVfs(const FaultVfs&) = delete;
    FaultVfs& operator=(const FaultVfs&) = delete;
    ~FaultVfs();

    void arm(const Plan& plan);
    void disarm();
    /// Since the last arm().
    int operations() const;
    bool was_hit() const;
};

}  // namespace kubexm::executor
