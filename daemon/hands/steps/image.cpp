#include "daemon/hands/steps/image.hpp"

#include "daemon/base/codec.hpp"
#include "daemon/base/json.hpp"
#include "daemon/base/overloaded.hpp"

namespace kubexm::hands {

namespace {

// We wrote it, and the host it tells of may have more than a stranger may send us: an extended
// attribute of 64 KiB in hexadecimal, thousands of names.
constexpr codec::Limits kLedgerLimits{.string = std::size_t{128} * 1024, .list = 10000};
constexpr JsonLimits kLedgerJson{
    .max_bytes = std::size_t{4} << 20U, .max_depth = 6, .max_values = 11000};

}  // namespace

std::string to_json(const Image& image) { return codec::encode(image).dump(); }

Result<Image> image_from_json(std::string_view text) {
    auto document = parse_json(text, kLedgerJson);
    if (!document) return fail(Code::corrupt, "pre-image in the ledger: " + document.error().what);
    Image image;
    if (auto done = codec::decode(*document, image, {"pre-image in the ledger", kLedgerLimits});
        !done) {
        return fail(Code::corrupt, done.error().what);
    }
    return image;
}

std::vector<std::string> contents_of(const Image& image) {
    const auto of_path = [](const PathImage& path) {
        return path.digest.empty() ? std::vector<std::string>{} : std::vector{path.digest};
    };
    return std::visit(
        overloaded{
            [&](const PathImage& path) { return of_path(path); },
            [&](const BlockImage& block) { return of_path(block.file); },
            [&](const ComponentImage& component) { return of_path(component.current); },
            [](const auto&) { return std::vector<std::string>{}; },
        },
        image);
}

}  // namespace kubexm::hands
