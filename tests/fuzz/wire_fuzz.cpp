#include <cstddef>
#include <cstdint>

#include "daemon/executor/wire/messages.hpp"

// An accepted message packs and unpacks to the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view frame(reinterpret_cast<const char*>(data), size);
    if (auto request = kubexm::wire::unpack_request(frame)) {
        const std::string again = pack(*request);
        auto twice = kubexm::wire::unpack_request(again);
        if (!twice || pack(*twice) != again) __builtin_trap();
    }
    if (auto reply = kubexm::wire::unpack_reply(frame)) {
        const std::string again = pack(*reply);
        auto twice = kubexm::wire::unpack_reply(again);
        if (!twice || pack(*twice) != again) __builtin_trap();
    }
    return 0;
}
