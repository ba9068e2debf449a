#include "fault_vfs.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <ranges>
#include <string_view>
#include <vector>

namespace kubexm::executor {

namespace {

using Fault = FaultVfs::Fault;

/// Undoes one write or truncation.
using Undo = std::function<void()>;

struct State {
    sqlite3_vfs* real = nullptr;
    sqlite3_vfs shim{};
    FaultVfs::Plan plan;
    int operations = 0;
    std::map<std::string, std::vector<Undo>> unsynced;  // by file
};

State& state() {
    static State only;
    return only;
}

/// SQLite's file object, followed by that of the real VFS in the same memory.
struct File {
    sqlite3_file base;
    const char* name;  // valid as long as the file is open

    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
};

void lose_unsynced() {
    for (auto& [name, changes] : state().unsynced) {
        if (!name.ends_with(state().plan.lost)) continue;
        for (const Undo& undo : std::views::reverse(changes)) undo();
    }
}

/// The fault of the next operation.
Fault next_operation() {
    State& s = state();
    ++s.operations;
    const bool hit = s.operations == s.plan.at || (s.plan.lasting && s.operations > s.plan.at);
    if (s.plan.fault == Fault::none || !hit) return Fault::none;
    if (s.plan.fault == Fault::power_cut) lose_unsynced();
    if (s.plan.fault == Fault::power_cut || s.plan.fault == Fault::kill) {
        ::kill(::getpid(), SIGKILL);
    }
    return s.plan.fault;
}

int refusal(Fault fault, int io_error) {
    return fault == Fault::disk_full ? SQLITE_FULL : io_error;
}

bool remembers_unsynced() { return state().plan.fault == Fault::power_cut; }

/// The bytes of a file from an offset to its end.
std::vector<char> tail_of(sqlite3_file* real, sqlite3_int64 offset) {
    sqlite3_int64 size = 0;
    real->pMethods->xFileSize(real, &size);
    if (size <= offset) return {};
    std::vector<char> bytes(static_cast<std::size_t>(size - offset));
    real->pMethods->xRead(real, bytes.data(), static_cast<int>(bytes.size()), offset);
    return bytes;
}

/// Saves the whole tail of the file: simple and slow.
void remember(File& file, sqlite3_int64 offset) {
    if (!remembers_unsynced() || file.name == nullptr) return;
    sqlite3_file* real = file.real();
    sqlite3_int64 size = 0;
    real->pMethods->xFileSize(real, &size);
    state().unsynced[file.name].push_back([real, offset, size, tail = tail_of(real, offset)] {
        if (!tail.empty()) {
            real->pMethods->xWrite(real, tail.data(), static_cast<int>(tail.size()), offset);
        }
        real->pMethods->xTruncate(real, size);
    });
}

int write(sqlite3_file* base, const void* bytes, int size, sqlite3_int64 offset) {
    File& file = File::of(base);
    const auto real_write = file.real()->pMethods->xWrite;
    if (const Fault fault = next_operation(); fault != Fault::none) {
        real_write(file.real(), bytes, size / 2, offset);
        return refusal(fault, SQLITE_IOERR_WRITE);
    }
    remember(file, offset);
    return real_write(file.real(), bytes, size, offset);
}

int truncate(sqlite3_file* base, sqlite3_int64 size) {
    File& file = File::of(base);
    if (const Fault fault = next_operation(); fault != Fault::none) {
        return refusal(fault, SQLITE_IOERR_TRUNCATE);
    }
    remember(file, size);
    return file.real()->pMethods->xTruncate(file.real(), size);
}

int sync(sqlite3_file* base, int /*flags*/) {
    File& file = File::of(base);
    if (const Fault fault = next_operation(); fault != Fault::none) {
        return refusal(fault, SQLITE_IOERR_FSYNC);
    }
    if (file.name != nullptr) state().unsynced.erase(file.name);
    return SQLITE_OK;
}

int remove(sqlite3_vfs* /*vfs*/, const char* name, int /*sync_directory*/) {
    if (const Fault fault = next_operation(); fault != Fault::none) {
        return refusal(fault, SQLITE_IOERR_DELETE);
    }
    state().unsynced.erase(name);
    return state().real->xDelete(state().real, name, 0);
}

int close(sqlite3_file* base) {
    if (File::of(base).name != nullptr) state().unsynced.erase(File::of(base).name);
    sqlite3_file* real = File::of(base).real();
    return real->pMethods == nullptr ? SQLITE_OK : real->pMethods->xClose(real);
}

int read(sqlite3_file* base, void* bytes, int size, sqlite3_int64 offset) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xRead(real, bytes, size, offset);
}

int file_size(sqlite3_file* base, sqlite3_int64* size) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xFileSize(real, size);
}

int lock(sqlite3_file* base, int level) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xLock(real, level);
}

int unlock(sqlite3_file* base, int level) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xUnlock(real, level);
}

int check_reserved_lock(sqlite3_file* base, int* locked) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xCheckReservedLock(real, locked);
}

int file_control(sqlite3_file* base, int operation, void* argument) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xFileControl(real, operation, argument);
}

int sector_size(sqlite3_file* base) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xSectorSize(real);
}

int characteristics(sqlite3_file* base) {
    sqlite3_file* real = File::of(base).real();
    return real->pMethods->xDeviceCharacteristics(real);
}

// Version 1: no shared memory. The journal must not need it.
constexpr sqlite3_io_methods kMethods{.iVersion = 1,
                                      .xClose = close,
                                      .xRead = read,
                                      .xWrite = write,
                                      .xTruncate = truncate,
                                      .xSync = sync,
                                      .xFileSize = file_size,
                                      .xLock = lock,
                                      .xUnlock = unlock,
                                      .xCheckReservedLock = check_reserved_lock,
                                      .xFileControl = file_control,
                                      .xSectorSize = sector_size,
                                      .xDeviceCharacteristics = characteristics};

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* base, int flags, int* out_flags) {
    File& file = *new (base) File{.base = {.pMethods = nullptr}, .name = name};
    std::memset(file.real(), 0, static_cast<std::size_t>(state().real->szOsFile));
    const int result = state().real->xOpen(state().real, name, file.real(), flags, out_flags);
    file.base.pMethods = &kMethods;
    return result;
}

int no_system_error(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*text*/) { return 0; }

}  // namespace

FaultVfs::FaultVfs() {
    State& s = state();
    s.real = ::sqlite3_vfs_find(nullptr);
    s.shim = *s.real;
    s.shim.zName = "fault";
    s.shim.szOsFile += static_cast<int>(sizeof(File));
    s.shim.xOpen = open;
    s.shim.xDelete = remove;
    s.shim.xGetLastError = no_system_error;
    ::sqlite3_vfs_register(&s.shim, /*makeDflt=*/1);
    disarm();
}

FaultVfs::~FaultVfs() {
    ::sqlite3_vfs_unregister(&state().shim);
    ::sqlite3_vfs_register(state().real, /*makeDflt=*/1);
}

void FaultVfs::arm(const Plan& plan) {
    state().plan = plan;
    state().operations = 0;
    state().unsynced.clear();
}

void FaultVfs::disarm() { arm({}); }

bool FaultVfs::was_hit() const {
    return state().plan.fault != Fault::none && state().operations >= state().plan.at;
}

}  // namespace kubexm::executor
