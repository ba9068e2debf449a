#include "daemon/base/log.hpp"

#define SD_JOURNAL_SUPPRESS_LOCATION  // which would always be this file
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "daemon/base/io.hpp"
#include "daemon/base/log_entry.hpp"

namespace kubexm::log {

namespace {

std::atomic<Level> threshold = Level::info;

const std::string& journal_stream() {
    static const std::string announced = [] {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is never changed
        const char* value = std::getenv("JOURNAL_STREAM");
        return std::string(value == nullptr ? "" : value);
    }();
    return announced;
}

bool send_to_journal(const Entry& entry) {
    std::vector<std::string> fields = journal_form(entry, program_invocation_short_name);
    std::vector<iovec> parts;
    parts.reserve(fields.size());
    for (std::string& field : fields) parts.push_back({field.data(), field.size()});
    return sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) >= 0;
}

}  // namespace

void write(Level level, std::string_view message, std::span<const Field> fields) {
    if (level > threshold.load(std::memory_order_relaxed)) return;
    const Entry entry{level, message, fields};
    const bool connected = is_journal_stream(STDERR_FILENO, journal_stream());
    if (connected && send_to_journal(entry)) return;
    std::ignore = write_all(STDERR_FILENO, line_form(entry), "standard error");
}

void set_level(Level level) { threshold.store(level, std::memory_order_relaxed); }

}  // namespace kubexm::log
