#include "daemon/model/plan.hpp"

#include <fmt/format.h>

#include "daemon/base/digest.hpp"
#include "daemon/base/hex.hpp"
#include "daemon/base/json.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/plan_codec.hpp"

namespace kubexm::model {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxName = 128;

json step_to_json(const Step& step) {
    json with = codec::encode(step);
    with.erase("type");
    const Description about = describe(step);
    return {{"type", std::string(type_of(step))},
            {"target", about.target},
            {"text", about.text},
            {"effects", about.effects},
            {"with", with}};
}

/// A derived member may be absent, but not differ.
Result<> agrees(const json& given, std::string_view name, const json& derived,
                const std::string& where) {
    const auto member = given.find(std::string(name));
    if (member == given.end() || *member == derived) return {};
    return refusal(
        "agreement", Code::invalid,
        fmt::format("{}.{}: expected the value derived from the steps; leave it out", where, name));
}

Result<Step> read_step(const json& given, const std::string& where) {
    if (!given.is_object()) return codec::expected_here(where, "an object");
    const std::vector<std::string_view> known{"type", "target", "text", "effects", "state", "with"};
    TRY(codec::only_known(given, known, where));
    if (!given.contains("with") || !given["with"].is_object()) {
        return codec::expected_here(where + ".with", "an object");
    }
    json parameters = given["with"];
    if (parameters.contains("type")) return codec::expected_here(where + ".with", "no type");
    parameters["type"] = given.contains("type") ? given["type"] : json();
    Step step;
    TRY(codec::decode(parameters, step, {where + ".with"}));
    const json derived = step_to_json(step);
    for (std::string_view name : {"target", "text", "effects"}) {
        TRY(agrees(given, name, derived[std::string(name)], where));
    }
    return step;
}

Result<std::string> short_name(const json& document, const char* member) {
    std::string value;
    if (!document.contains(member)) {
        return fail(Code::invalid, fmt::format("{}: expected, found none", member));
    }
    TRY(codec::decode(document[member], value, {member}));
    const auto is_such = [](char c) { return is_name_character(c) || c == ':'; };
    if (value.size() > kMaxName || !made_of(value, is_such)) {
        return codec::expected_here(member, "1 to 128 letters, digits, - . _ :");
    }
    return value;
}

Result<std::vector<Step>> steps_from_json(const json& document) {
    if (!document.contains("steps") || !document["steps"].is_array()) {
        return codec::expected_here("steps", "a list");
    }
    const json& list = document["steps"];
    if (list.size() > kMaxSteps) {
        return codec::expected_here("steps", fmt::format("at most {}", kMaxSteps));
    }
    std::vector<Step> steps;
    for (const json& given : list) {
        Step step = TRY(read_step(given, fmt::format("steps[{}]", steps.size())));
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace

std::string hash_of(const Plan& plan) {
    json steps = json::array();
    for (const Step& step : plan.steps) steps.push_back(codec::encode(step));
    // nlohmann keeps members sorted by name, so equal structs give equal text.
    return sha256(json{{"owner", plan.owner}, {"steps", steps}}.dump());
}

std::string digest_of(std::span<const Step> steps) {
    json list = json::array();
    for (const Step& step : steps) list.push_back(codec::without_defaults(step));
    return sha256(list.dump());
}

json encode(const Plan& plan) {
    json steps = json::array();
    for (const Step& step : plan.steps) steps.push_back(step_to_json(step));
    return {{"id", plan.id},         {"owner", plan.owner},   {"purpose", name_of(plan.purpose)},
            {"wanted", plan.wanted}, {"hash", hash_of(plan)}, {"steps", steps}};
}

Result<> decode(const json& from, Plan& to, const codec::JsonPlace& place) {
    const std::string& where = place.path;
    if (!from.is_object()) return codec::expected_here(where, "an object");
    TRY(codec::only_known(from, {"id", "owner", "purpose", "wanted", "hash", "steps"}, where));
    auto id = short_name(from, "id");
    if (!id) return during(where, id.error());
    auto owner = short_name(from, "owner");
    if (!owner) return during(where, owner.error());
    auto steps = steps_from_json(from);
    if (!steps) return during(where, steps.error());
    to = Plan{.id = *std::move(id), .owner = *std::move(owner), .steps = *std::move(steps)};
    if (from.contains("purpose")) {
        TRY(codec::decode(from["purpose"], to.purpose, place.below(where + ".purpose")));
    }
    if (from.contains("wanted")) {
        TRY(codec::decode(from["wanted"], to.wanted, place.below(where + ".wanted")));
        if (!to.wanted.empty() && !is_sha256(to.wanted)) {
            return codec::expected_here(where + ".wanted", "a SHA-256 digest in hex, or \"\"");
        }
    }
    return agrees(from, "hash", hash_of(to), where);
}

std::string to_json(const Plan& plan) { return encode(plan).dump(); }

Result<Plan> plan_from_json(std::string_view text) {
    const JsonLimits limits{.max_bytes = kMaxPlanBytes, .max_depth = 10, .max_values = 20000};
    auto document = parse_json(text, limits);
    if (!document) return during("plan", document.error());
    Plan plan;
    TRY(decode(*document, plan, {"plan"}));
    return plan;
}

std::string to_json(const Step& step) { return codec::encode(step).dump(); }

Result<Step> step_from_json(std::string_view text) {
    auto document =
        parse_json(text, {.max_bytes = kMaxPlanBytes, .max_depth = 10, .max_values = 2000});
    if (!document) return during("step", document.error());
    Step step;
    TRY(codec::decode(*document, step, {"step"}));
    return step;
}

std::string to_json(const Plan& plan, std::span<const std::string> states) {
    json document = encode(plan);
    for (std::size_t i = 0; i < states.size(); ++i) document["steps"].at(i)["state"] = states[i];
    return document.dump(2);
}

std::string to_text(const Plan& plan, std::span<const std::string> states) {
    std::string text;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const Description about = describe(plan.steps[i]);
        text += fmt::format("{:<8} {}", i < states.size() ? states[i] : "", about.text);
        for (const std::string& effect : about.effects) text += fmt::format(" ({})", effect);
        text += '\n';
    }
    return text;
}

}  // namespace kubexm::model
