#include "daemon/kube/event.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/base/text.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr const char* kComponent = "kubexmd";
constexpr std::size_t kMaxEventMessage = 1024;  // of the events.k8s.io API
constexpr std::size_t kMaxName = 253;

}  // namespace

std::string events_path(const std::string& namespace_) {
    return fmt::format("/api/v1/namespaces/{}/events", namespace_);
}

std::string event_path(const std::string& namespace_, const std::string& name) {
    return events_path(namespace_) + "/" + name;
}

std::string event_name(std::string_view host, std::string_view digits) {
    host = host.substr(0, kMaxName - digits.size() - 1);
    // The cut may be inside of a label, which must not end with "-", or behind one.
    while (host.ends_with('-') || host.ends_with('.')) host.remove_suffix(1);
    return fmt::format("{}.{}", host, digits);
}

json new_event(const EventSeries& series, const model::Reference& host,
               const std::string& resource_version) {
    return {{"apiVersion", "v1"},
            {"kind", "Event"},
            {"metadata", {{"name", series.name}, {"namespace", host.namespace_}}},
            {"involvedObject",
             {{"apiVersion", kHostApiVersion},
              {"kind", kHostKind},
              {"namespace", host.namespace_},
              {"name", host.name},
              {"uid", host.uid},
              {"resourceVersion", resource_version}}},
            {"type", std::string(name_of(series.event.type))},
            {"reason", series.event.reason},
            {"message", bounded_utf8(series.event.message, kMaxEventMessage)},
            {"source", {{"component", kComponent}, {"host", host.name}}},
            {"reportingComponent", kComponent},
            {"reportingInstance", host.name},
            {"firstTimestamp", series.first},
            {"lastTimestamp", series.last},
            {"count", series.count}};
}

json repeats_patch(const EventSeries& series) {
    return {{"count", series.count}, {"lastTimestamp", series.last}};
}

}  // namespace kubexm::kube
