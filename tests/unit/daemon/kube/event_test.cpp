#include "daemon/kube/event.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/base/grammar.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::kube {
namespace {

using nlohmann::json;

const model::Reference kHost{"default", "h1", "u1"};

EventSeries drifted(const std::string& message) {
    return {.event = {EventType::warning, "HostDrifted", message},
            .name = event_name("h1", "0123456789abcdef"),
            .first = "2026-01-31T12:00:00Z",
            .last = "2026-01-31T12:05:00Z",
            .count = 3};
}

TEST(Event, HasTheFormOfTheApi) {
    EXPECT_EQ(new_event(drifted("kubelet.service: inactive"), kHost, "7"), json::parse(R"({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": "h1.0123456789abcdef", "namespace": "default"},
        "involvedObject": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
            "kind": "ByoHost", "namespace": "default", "name": "h1", "uid": "u1",
            "resourceVersion": "7"},
        "type": "Warning", "reason": "HostDrifted", "message": "kubelet.service: inactive",
        "source": {"component": "kubexmd", "host": "h1"},
        "reportingComponent": "kubexmd", "reportingInstance": "h1",
        "firstTimestamp": "2026-01-31T12:00:00Z", "lastTimestamp": "2026-01-31T12:05:00Z",
        "count": 3})"));
}

TEST(Event, RepeatsChangeCountAndTimeOnly) {
    EXPECT_EQ(repeats_patch(drifted("")),
              (json{{"count", 3}, {"lastTimestamp", "2026-01-31T12:05:00Z"}}));
}

TEST(Event, AMessageIsBoundedUtf8) {
    std::string message = "\xff";
    while (message.size() < 2000) message += "节";
    const auto written = new_event(drifted(message), kHost, "7")["message"].get<std::string>();
    EXPECT_LE(written.size(), 1024U);
    EXPECT_GT(written.size(), 1020U);
    EXPECT_TRUE(is_printable(written));
}

TEST(Event, ItsNameIsADnsNameAlsoForALongHost) {
    for (std::size_t shift = 0; shift < 4; ++shift) {  // the cut meets each of "a-a."
        std::string host(shift, 'b');
        while (host.size() < 245) host += "a-a.";
        const std::string name = event_name(host + "a", "0123456789abcdef");
        EXPECT_TRUE(is_dns_name(name)) << name;
        EXPECT_TRUE(name.ends_with(".0123456789abcdef")) << name;
    }
}

TEST(Event, HasItsPath) {
    EXPECT_EQ(event_path("default", "h1.0"), "/api/v1/namespaces/default/events/h1.0");
}

}  // namespace
}  // namespace kubexm::kube
