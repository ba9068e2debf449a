#include "daemon/kube/watch_event.hpp"

#include <array>
#include <utility>

#include "daemon/kube/failure.hpp"
#include "daemon/kube/fields.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;
using Type = WatchEvent::Type;

constexpr std::array<std::pair<std::string_view, Type>, 5> kTypes{{{"ADDED", Type::changed},
                                                                   {"MODIFIED", Type::changed},
                                                                   {"DELETED", Type::deleted},
                                                                   {"BOOKMARK", Type::bookmark},
                                                                   {"ERROR", Type::error}}};
constexpr std::size_t kMaxText = 256;  // names have 253 at most, versions are numbers

std::string text_of_metadata(const json& object, const char* key) {
    std::string text = text_at(object, {"metadata", key});
    return text.size() <= kMaxText ? text : "";
}

Type type_of(std::string_view name) {
    for (const auto& [known, type] : kTypes) {
        if (name == known) return type;
    }
    return Type::unknown;
}

}  // namespace

Result<WatchEvent> read_event(std::string_view line) {
    auto parsed = parse_response(line);
    if (!parsed) return during("event of a watch", parsed.error());
    const auto type = parsed->is_object() ? parsed->find("type") : parsed->end();
    const auto object = parsed->is_object() ? parsed->find("object") : parsed->end();
    if (type == parsed->end() || !type->is_string() || object == parsed->end()) {
        return fail(Code::invalid, "event of a watch: expected type and object");
    }
    WatchEvent event{.type = type_of(*type->get_ptr<const std::string*>()),
                     .object = std::move(*object)};
    event.name = name_of(event.object);
    event.version = version_of(event.object);
    const bool needs_version = event.type != Type::error && event.type != Type::unknown;
    if (needs_version && event.version.empty()) {
        return fail(Code::invalid, "event of a watch: expected metadata.resourceVersion");
    }
    return event;
}

std::string version_of(const json& object) { return text_of_metadata(object, "resourceVersion"); }

std::string name_of(const json& object) { return text_of_metadata(object, "name"); }

}  // namespace kubexm::kube
