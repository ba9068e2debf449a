#include <cstddef>
#include <cstdint>

#include "daemon/executor/wire/messages.hpp"

// An accepted message packs and unpacks to the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view frame(reinterpret_cast<const char*>(data), size);
    if (const auto [id, request] = kubexm::wire::unpack_request(frame); request) {
        const std::string again = pack(id, *request);
        const auto twice = kubexm::wire::unpack_request(again);
        if (!twice.request || pack(twice.id, *twice.request) != again) __builtin_trap();
    }
    if (const auto reply = kubexm::wire::unpack_reply(frame)) {
        const std::string again = pack(reply->id, reply->reply, reply->part);
        const auto twice = kubexm::wire::unpack_reply(again);
        if (!twice || pack(twice->id, twice->reply, twice->part) != again) __builtin_trap();
    }
    return 0;
}
