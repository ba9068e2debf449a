#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>
#include <yaml-cpp/stlemitter.h>

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

/// Writes the members of a struct that `fields` names.
struct MemberWriter {
    YAML::Emitter& out;
    const Origins& origins;
    const std::string prefix;  // "", "log."

    template <Settings T>
    void operator()(std::string_view key, const T& value) const {
        out << YAML::Key << std::string(key) << YAML::Value << YAML::BeginMap;
        T::fields(value, MemberWriter{out, origins, prefix + std::string(key) + "."});
        out << YAML::EndMap;
    }
    template <Named Enum>
    void operator()(std::string_view key, const Enum& value) const {
        text(key, std::string(name_of(value)));
    }
    void operator()(std::string_view key, const std::string& value, const Rule&) const {
        text(key, value);
    }
    void operator()(std::string_view key, const std::vector<std::string>& values,
                    const Rule&) const {
        out << YAML::Key << std::string(key) << YAML::Value << values;
        comment_origin(key);
    }
    void operator()(std::string_view key,
                    const std::map<std::string, std::vector<std::string>>& lists,
                    const Rule&) const {
        out << YAML::Key << std::string(key) << YAML::Value << lists;
        comment_origin(key);
    }

private:
    void text(std::string_view key, const std::string& value) const {
        out << YAML::Key << std::string(key) << YAML::Value << value;
        comment_origin(key);
    }
    void comment_origin(std::string_view key) const {
        const auto origin = origins.find(prefix + std::string(key));
        if (origin != origins.end()) out << YAML::Comment(printable(origin->second));
    }
};

template <typename T>
std::string to_yaml(const T& config) {
    YAML::Emitter out;
    out << YAML::BeginMap;
    T::fields(config, MemberWriter{out, config.origins, ""});
    out << YAML::EndMap << YAML::Newline;
    return out.c_str();
}

}  // namespace

std::string effective(const Config& config) { return to_yaml(config); }
std::string effective(const ExecutorConfig& config) { return to_yaml(config); }

}  // namespace kubexm::config
