#include "daemon/executor/steps/pre_image.hpp"

#include "daemon/base/codec.hpp"
#include "daemon/base/hex.hpp"
#include "daemon/base/json.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::executor {

namespace {

using nlohmann::json;

// We wrote it, and the host it tells of may have more than a stranger may send us: an extended
// attribute of 64 KiB in hexadecimal, thousands of names.
constexpr codec::Limits kLedgerLimits{.string = std::size_t{128} * 1024, .list = 10000};
constexpr JsonLimits kLedgerJson{
    .max_bytes = std::size_t{4} << 20U, .max_depth = 6, .max_values = 21000};

// Names, targets and values of a host are bytes and need not be UTF-8, which JSON has to be. Such a
// string is written as {"hex": ...}: no struct of an image has this one member alone.
constexpr const char* kHex = "hex";

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto character = first_character(text);
        if (!character) return false;
        text.remove_prefix(character->bytes);
    }
    return true;
}

void hide_bytes(json& value) {
    if (const auto* text = value.get_ptr<const std::string*>()) {
        if (!is_utf8(*text)) value = json{{kHex, to_hex(*text)}};
        return;
    }
    for (json& inner : value) {
        if (inner.is_string() || inner.is_structured()) hide_bytes(inner);
    }
}

Result<> show_bytes(json& value) {
    if (!value.is_structured()) return {};
    const bool hidden = value.is_object() && value.size() == 1 && value.contains(kHex);
    if (const auto* hex = hidden ? value[kHex].get_ptr<const std::string*>() : nullptr) {
        auto bytes = from_hex(*hex);
        if (!bytes) return fail(Code::corrupt, "ledger: bytes are not hexadecimal");
        value = *std::move(bytes);
        return {};
    }
    for (json& inner : value) {
        if (auto done = show_bytes(inner); !done) return done;
    }
    return {};
}

}  // namespace

std::string to_json(const PreImage& image) {
    json document = codec::encode(image);
    hide_bytes(document);
    return document.dump();
}

Result<PreImage> image_from_json(std::string_view text) {
    auto document = parse_json(text, kLedgerJson);
    if (!document) return fail(Code::corrupt, "pre-image in the ledger: " + document.error().what);
    if (auto done = show_bytes(*document); !done) return std::unexpected(done.error());
    PreImage image;
    if (auto done = codec::decode(*document, image, {"pre-image in the ledger", kLedgerLimits});
        !done) {
        return fail(Code::corrupt, done.error().what);
    }
    return image;
}

std::vector<std::string> contents_of(const PreImage& image) {
    const auto of_path = [](const PathPreImage& path) {
        return path.digest.empty() ? std::vector<std::string>{} : std::vector{path.digest};
    };
    return std::visit(
        overloaded{
            [&](const PathPreImage& path) { return of_path(path); },
            [&](const BlockPreImage& block) { return of_path(block.file); },
            [&](const ComponentPreImage& component) { return of_path(component.current); },
            [](const auto&) { return std::vector<std::string>{}; },
        },
        image);
}

}  // namespace kubexm::executor
