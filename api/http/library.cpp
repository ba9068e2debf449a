#include "api/http/library.hpp"

#include <drogon/drogon.h>

#include <cstdint>
#include <string_view>

#include "daemon/base/log.hpp"

namespace kubexm::http {

std::string library() { return "Drogon " + drogon::getVersion(); }

/// Drogon's own levels always include errors.
void silence_library() {
    trantor::Logger::setLogLevel(trantor::Logger::kFatal);
    trantor::Logger::setOutputFunction(
        [](const char* text, std::uint64_t size) {
            const std::string_view line(text, size);
            if (line.find(" FATAL ") != std::string_view::npos) log::error(line);
        },
        [] {});
}

}  // namespace kubexm::http
