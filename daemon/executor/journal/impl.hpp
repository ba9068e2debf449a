#pragma once

#include "daemon/base/process_lock.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor {

struct Journal::Impl {
    ProcessLock lock;  // destroyed last: the file is closed before another process can open it
    journal::sqlite::Database database;
    Limits limits;
};

}  // namespace kubexm::executor
