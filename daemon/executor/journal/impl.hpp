#pragma once

#include "daemon/base/process_lock.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor {

struct Journal::Impl {
    ProcessLock lock;  // goes last: the file is closed before another process may open it
    journal::sqlite::Database database;
    Limits limits;
};

}  // namespace kubexm::executor
