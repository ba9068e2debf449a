#include "daemon/agent/memory.hpp"

#include "daemon/base/json.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/plan_codec.hpp"

namespace kubexm::agent {

namespace {

constexpr const char* kMemoryFile = "memory.json";
constexpr JsonLimits kMemoryLimits{
    .max_bytes = std::size_t{512} * 1024, .max_depth = 10, .max_values = 5000};
constexpr codec::FieldLimits kTexts{.string = std::size_t{256} * 1024};  // a bundle of CAs is one

Result<Memory> memory_from(std::string_view text) {
    const auto document = parse_json(text, kMemoryLimits);
    if (!document) return during(kMemoryFile, document.error());
    Memory memory;
    TRY(codec::decode(*document, memory, {kMemoryFile, kTexts, codec::Members::any}));
    return memory;
}

Result<Memory> read_memory(const CredentialStore& store) {
    const std::optional<Secret> text = TRY(store.read(kMemoryFile));
    return text ? memory_from(text->reveal()) : Result<Memory>(Memory{});
}

}  // namespace

Memory load_memory(const CredentialStore& store) {
    auto memory = read_memory(store);
    if (memory) return *std::move(memory);
    Memory lost;
    lost.lost = memory.error().what;
    return lost;
}

/// Refuses a memory that load_memory() would refuse.
Result<> store_memory(const CredentialStore& store, const Memory& memory) {
    std::string text = codec::encode(memory).dump();
    TRY(memory_from(text));
    return store.write(kMemoryFile, Secret(std::move(text)));
}

}  // namespace kubexm::agent
