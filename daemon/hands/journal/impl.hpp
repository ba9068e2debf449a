#pragma once

#include "daemon/hands/journal/journal.hpp"
#include "daemon/hands/journal/lock.hpp"
#include "daemon/hands/journal/sqlite.hpp"

namespace kubexm::hands {

struct Journal::Impl {
    journal::ProcessLock lock;  // goes last: the file is closed before another process may open it
    journal::sqlite::Database database;
    Limits limits;
};

}  // namespace kubexm::hands
