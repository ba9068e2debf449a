#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>
#include <yaml-cpp/stlemitter.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/names.hpp"
#include "daemon/base/text.hpp"
#include "daemon/config/apply.hpp"
#include "daemon/config/config.hpp"
#include "daemon/config/executor_config.hpp"

namespace kubexm::config {

namespace {

using Strings = std::vector<std::string>;
using Explain = std::string (*)(const std::string& key, bool is_set, const Strings& values);

/// Nothing that its origin does not say.
std::string no_words(const std::string&, bool, const Strings&) { return ""; }

/// The meaning of an allow-list that root left out, or that permits any.
std::string words_of_list(const std::string& key, bool is_set, const Strings& values) {
    const bool is_any = std::ranges::find(values, "*") != values.end();
    if (is_any && key == "allow.clusters") return "any API server";
    if (is_any && key == "allow.registries") return "any registry with TLS";
    return is_set || !key.starts_with("allow.") ? "" : "not set: the documented default";
}

/// Writes the members of a struct that `fields` names.
struct MemberWriter {
    YAML::Emitter& out;
    const Origins& origins;
    const std::string prefix;  // "", "log."
    const Explain explain;

    template <Settings T>
    void operator()(std::string_view key, const T& value) const {
        out << YAML::Key << std::string(key) << YAML::Value << YAML::BeginMap;
        T::fields(value, MemberWriter{out, origins, prefix + std::string(key) + ".", explain});
        out << YAML::EndMap;
    }
    template <Named Enum>
    void operator()(std::string_view key, const Enum& value) const {
        text(key, std::string(name_of(value)));
    }
    void operator()(std::string_view key, const std::string& value, const Rule&) const {
        text(key, value);
    }
    void operator()(std::string_view key, const Strings& values, const Rule&) const {
        out << YAML::Key << std::string(key) << YAML::Value << values;
        comment(key, values);
    }
    void operator()(std::string_view key, const std::map<std::string, Strings>& lists,
                    const Rule&) const {
        out << YAML::Key << std::string(key) << YAML::Value << YAML::BeginMap;
        const MemberWriter inner{out, origins, prefix + std::string(key) + ".", explain};
        for (const auto& [name, values] : lists) {
            out << YAML::Key << name << YAML::Value << values;
            inner.comment(name, values);
        }
        out << YAML::EndMap;
    }

private:
    void text(std::string_view key, const std::string& value) const {
        out << YAML::Key << std::string(key) << YAML::Value << value;
        comment(key, {});
    }
    void comment(std::string_view key, const Strings& values) const {
        const std::string path = prefix + std::string(key);
        const auto origin = origins.find(path);
        const std::string from = origin == origins.end() ? "" : printable(origin->second);
        const std::string words = explain(path, !from.empty(), values);
        const std::string both = from.empty() || words.empty() ? from + words : from + ": " + words;
        if (!both.empty()) out << YAML::Comment(both);
    }
};

template <typename T>
std::string to_yaml(const T& config, Explain explain) {
    YAML::Emitter out;
    out << YAML::BeginMap;
    T::fields(config, MemberWriter{out, config.origins, "", explain});
    out << YAML::EndMap << YAML::Newline;
    return out.c_str();
}

}  // namespace

std::string effective(const Config& config) { return to_yaml(config, no_words); }
std::string effective(const ExecutorConfig& config) { return to_yaml(config, words_of_list); }

}  // namespace kubexm::config
