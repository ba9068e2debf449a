#include <sys/un.h>

#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"

namespace kubexm {

bool is_absolute_path(std::string_view text) {
    constexpr std::size_t kMaxPath = 1024;
    constexpr std::size_t kMaxPart = 255;  // NAME_MAX
    const auto is_part = [](std::string_view part) {
        return !part.empty() && part != "." && part != ".." && part.size() <= kMaxPart;
    };
    return text.starts_with('/') && text.size() <= kMaxPath &&
           every_part(text.substr(1), '/', is_part) && is_printable(text);
}

bool is_socket_path(std::string_view text) {
    return text.size() < sizeof(sockaddr_un::sun_path) && is_absolute_path(text);
}

}  // namespace kubexm
