#pragma once

#include <string>
#include <vector>

#include "fake_systemd.hpp"

namespace kubexm::executor {

struct ListedUnit {
    std::string unit;
    std::string path;
    std::string following;
    std::string fragment;
};

/// Units of mounts or swaps, with the object paths /u/0, /u/1, ...
inline void have_units(FakeSystemd& fake, const char* property,
                       const std::vector<ListedUnit>& units) {
    fake.when("ListUnitsByPatterns", [units](Peer&, sd_bus_message* call) {
        sd_bus_message* answer = nullptr;
        sd_bus_message_new_method_return(call, &answer);
        sd_bus_message_open_container(answer, 'a', "(ssssssouso)");
        for (std::size_t at = 0; at < units.size(); ++at) {
            sd_bus_message_append(answer, "(ssssssouso)", units[at].unit.c_str(), "description",
                                  "loaded", "active", "mounted", units[at].following.c_str(),
                                  ("/u/" + std::to_string(at)).c_str(), 0U, "", "/");
        }
        sd_bus_message_close_container(answer);
        sd_bus_send(nullptr, answer, nullptr);
        sd_bus_message_unref(answer);
    });
    fake.when("GetAll", [units, property](Peer& peer, sd_bus_message* call) {
        const std::string object = sd_bus_message_get_path(call);
        const auto& unit = units.at(std::stoul(object.substr(3)));
        peer.reply(call, "a{sv}", 2, property, "s", unit.path.c_str(), "FragmentPath", "s",
                   unit.fragment.c_str());
    });
}

}  // namespace kubexm::executor
