#include "daemon/kube/query.hpp"

#include <fmt/format.h>

#include <iterator>

#include "daemon/base/scan.hpp"

namespace kubexm::kube {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (is_name_character(c) || c == '~') {
            out += c;
        } else {
            fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace kubexm::kube
