#include "daemon/executor/engine/confirmed_authorities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/io.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

constexpr const char* kFile = "confirmed-cas";
constexpr std::size_t kMaxFile = std::size_t{64} * 1024;
constexpr std::size_t kMaxName = 256;

std::vector<std::string> pins_in(const std::string& text) {
    std::vector<std::string> pins;
    for (const std::string_view line : lines_of(text)) {
        pins.emplace_back(line.substr(0, line.find(' ')));
    }
    return pins;
}

}  // namespace

Result<std::string> ConfirmedAuthorities::read() const {
    const auto directory = TRY(StateDirectory::open(directory_));
    const bool is_there = TRY(directory.has(kFile));
    if (!is_there) return "";
    const Fd file = TRY(directory.read(kFile));
    return read_rest(file.get(), directory.path_of(kFile), kMaxFile);
}

Result<std::vector<std::string>> ConfirmedAuthorities::pins() const { return pins_in(TRY(read())); }

Result<> ConfirmedAuthorities::add(const std::vector<pki::Authority>& authorities) const {
    std::string text = TRY(read());
    for (const pki::Authority& one : authorities) {
        const auto known = pins_in(text);
        if (std::ranges::find(known, one.pin) != known.end()) continue;
        text += fmt::format("{} {}\n", one.pin, printable(bounded_utf8(one.name, kMaxName)));
    }
    const auto directory = TRY(StateDirectory::open(directory_));
    if (text.size() > kMaxFile) {
        return fail(Code::exhausted,
                    fmt::format("{}: expected at most {} bytes; remove the lines of CAs that are "
                                "not used any more",
                                directory.path_of(kFile), kMaxFile));
    }
    return directory.replace(kFile, text);
}

}  // namespace kubexm::executor
