#include "daemon/agent/memory.hpp"

#include "daemon/base/json.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/codec.hpp"

namespace kubexm::agent {

namespace {

constexpr const char* kMemoryFile = "memory.json";
constexpr JsonLimits kMemoryLimits{
    .max_bytes = std::size_t{256} * 1024, .max_depth = 10, .max_values = 5000};

}  // namespace

Result<Memory> load_memory(const CredentialStore& store) {
    const std::optional<Secret> text = TRY(store.read(kMemoryFile));
    Memory memory;
    if (!text) return memory;
    const auto document = parse_json(text->reveal(), kMemoryLimits);
    if (!document) return during(kMemoryFile, document.error());
    TRY(codec::decode(*document, memory, {kMemoryFile}));
    return memory;
}

Result<> store_memory(const CredentialStore& store, const Memory& memory) {
    return store.write(kMemoryFile, Secret(codec::encode(memory).dump()));
}

}  // namespace kubexm::agent
