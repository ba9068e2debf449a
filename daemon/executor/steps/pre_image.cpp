#include "daemon/executor/steps/pre_image.hpp"

#include "daemon/base/codec.hpp"
#include "daemon/base/hex.hpp"
#include "daemon/base/json.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

using nlohmann::json;

// Wider than for a plan: the executor wrote it, and a host may have an extended attribute of 64 KiB
// in hexadecimal, or thousands of names.
constexpr codec::FieldLimits kLedgerLimits{.string = std::size_t{128} * 1024, .list = 10000};
constexpr JsonLimits kLedgerJson{
    .max_bytes = std::size_t{4} << 20U, .max_depth = 6, .max_values = 21000};

// Names, link targets and values need not be UTF-8, but JSON must be. Other strings are written as
// {"hex": ...}; no struct of an image has only this member.
constexpr const char* kHex = "hex";

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto character = first_character(text);
        if (!character) return false;
        text.remove_prefix(character->bytes);
    }
    return true;
}

void escape_bytes(json& value) {
    if (const auto* text = value.get_ptr<const std::string*>()) {
        if (!is_utf8(*text)) value = json{{kHex, to_hex(*text)}};
        return;
    }
    for (json& inner : value) {
        if (inner.is_string() || inner.is_structured()) escape_bytes(inner);
    }
}

Result<> unescape_bytes(json& value) {
    if (!value.is_structured()) return {};
    const bool hidden = value.is_object() && value.size() == 1 && value.contains(kHex);
    if (const auto* hex = hidden ? value[kHex].get_ptr<const std::string*>() : nullptr) {
        auto bytes = from_hex(*hex);
        if (!bytes) return fail(Code::corrupt, "ledger: expected hexadecimal digits");
        value = *std::move(bytes);
        return {};
    }
    for (json& inner : value) {
        TRY(unescape_bytes(inner));
    }
    return {};
}

}  // namespace

std::string to_json(const PreImage& image) {
    json document = codec::encode(image);
    escape_bytes(document);
    return document.dump();
}

Result<PreImage> image_from_json(std::string_view text) {
    auto document = parse_json(text, kLedgerJson);
    if (!document) return fail(Code::corrupt, "pre-image in the ledger: " + document.error().what);
    TRY(unescape_bytes(*document));
    PreImage image;
    if (auto done = codec::decode(*document, image, {"pre-image in the ledger", kLedgerLimits});
        !done) {
        return fail(Code::corrupt, done.error().what);
    }
    return image;
}

std::vector<std::string> contents_of(const PreImage& image) {
    using Digests = std::vector<std::string>;
    const auto of_path = [](const PathPreImage& path) {
        return path.digest.empty() ? Digests{} : Digests{path.digest};
    };
    return std::visit(
        overloaded{
            [&](const PathPreImage& path) { return of_path(path); },
            [&](const BlockPreImage& block) { return of_path(block.file); },
            [&](const ComponentPreImage& component) { return of_path(component.current); },
            [](const NoPreImage&) { return Digests{}; },
            [](const ValuePreImage&) { return Digests{}; },
            [](const UnitPreImage&) { return Digests{}; },
            [](const SwapsPreImage&) { return Digests{}; },
            [](const ClaimPreImage&) { return Digests{}; },
            [](const SideEffectsPreImage&) { return Digests{}; },
        },
        image);
}

}  // namespace kubexm::executor
