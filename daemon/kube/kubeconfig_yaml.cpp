#include "daemon/kube/kubeconfig_yaml.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "daemon/base/overloaded.hpp"
#include "daemon/base/yaml.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr yaml::YamlLimits kYamlLimits{.max_depth = 16};

json to_json(yaml::Value value) {
    return std::visit(overloaded{
                          [](yaml::Nothing) { return json(); },
                          [](yaml::Rejected) { return json(); },
                          [](std::string& text) { return json(std::move(text)); },
                          [](yaml::List& list) {
                              json array = json::array();
                              for (auto& item : list) array.push_back(to_json(std::move(item)));
                              return array;
                          },
                          [](yaml::Map& map) {
                              json object = json::object();
                              for (auto& [key, at, member] : map) {
                                  object[key] = to_json(std::move(member));
                              }
                              return object;
                          },
                      },
                      value.content);
}

}  // namespace

Result<json> json_from_yaml(std::string_view text) {
    auto document = yaml::parse(text, kYamlLimits);
    if (document.problems.empty()) return to_json(std::move(document.root));
    const yaml::YamlProblem& first = document.problems.front();
    if (first.at.line == 0) return fail(Code::invalid, first.what);
    return fail(Code::invalid, fmt::format("line {}: {}", first.at.line, first.what));
}

}  // namespace kubexm::kube
