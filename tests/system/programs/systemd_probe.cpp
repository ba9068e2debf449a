// Drives the verbs of Systemd on a node: a line of JSON in, [milliseconds, verb, argument...], a
// line of JSON out, {"value": ...} or {"error": code, "what": words}. One connection for all lines.

#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/executor/host/systemd.hpp"

namespace {

using kubexm::Deadline;
using kubexm::Result;
using kubexm::executor::Systemd;
using nlohmann::json;

using Arguments = std::vector<std::string>;
using Verb = json (*)(Systemd&, const Arguments&, Deadline);
using UnitVerb = Result<> (Systemd::*)(const std::string&, Deadline);

json value_of(const kubexm::executor::UnitStatus& unit) {
    return {{"name", unit.name},
            {"load", unit.load},
            {"active", unit.active},
            {"sub", unit.sub},
            {"fragment", unit.fragment},
            {"enablement", unit.enablement},
            {"result", unit.result},
            {"exit_code", unit.exit_code},
            {"needs_reload", unit.needs_reload}};
}

json value_of(const std::vector<Systemd::PathUnit>& units) {
    json list = json::array();
    for (const auto& found : units) list.push_back({{"unit", found.unit}, {"path", found.path}});
    return list;
}

json value_of(std::int32_t code) { return code; }

json error_of(const kubexm::Error& error) {
    return {{"error", std::string(name_of(error.code))}, {"what", error.what}};
}

json to_json(const Result<>& outcome) {
    return outcome ? json{{"value", nullptr}} : error_of(outcome.error());
}

template <typename T>
json to_json(const Result<T>& outcome) {
    return outcome ? json{{"value", value_of(*outcome)}} : error_of(outcome.error());
}

template <UnitVerb kVerb>
json of_unit(Systemd& systemd, const Arguments& arguments, Deadline deadline) {
    return to_json((systemd.*kVerb)(arguments.at(0), deadline));
}

json status(Systemd& systemd, const Arguments& arguments, Deadline deadline) {
    return to_json(systemd.status(arguments.at(0), deadline));
}

json reload(Systemd& systemd, const Arguments&, Deadline deadline) {
    return to_json(systemd.reload(deadline));
}

json active_units(Systemd& systemd, const Arguments& arguments, Deadline deadline) {
    return to_json(systemd.active_units(arguments.at(0), arguments.at(1), deadline));
}

json run(Systemd& systemd, const Arguments& arguments, Deadline deadline) {
    const Arguments argv(arguments.begin() + 2, arguments.end());
    return to_json(systemd.run({arguments.at(0), arguments.at(1), argv}, deadline));
}

const std::map<std::string, Verb> kVerbs = {
    {"status", status},
    {"start", of_unit<&Systemd::start>},
    {"stop", of_unit<&Systemd::stop>},
    {"restart", of_unit<&Systemd::restart>},
    {"enable", of_unit<&Systemd::enable>},
    {"disable", of_unit<&Systemd::disable>},
    {"mask", of_unit<&Systemd::mask>},
    {"unmask", of_unit<&Systemd::unmask>},
    {"reset_failed", of_unit<&Systemd::reset_failed>},
    {"reload", reload},
    {"active_units", active_units},
    {"run", run},
};

json answer(Systemd& systemd, const json& line) {
    const auto limit = std::chrono::milliseconds(line.at(0).get<int>());
    const Verb verb = kVerbs.at(line.at(1).get<std::string>());
    Arguments arguments;
    for (std::size_t at = 2; at < line.size(); ++at) {
        arguments.push_back(line[at].get<std::string>());
    }
    return verb(systemd, arguments, std::chrono::steady_clock::now() + limit);
}

}  // namespace

int main() {
    Systemd systemd;
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << answer(systemd, json::parse(line)).dump() << '\n' << std::flush;
    }
}
