#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <string>
#include <string_view>

#include "daemon/base/names.hpp"
#include "daemon/base/text.hpp"
#include "daemon/config/apply.hpp"
#include "daemon/config/config.hpp"

namespace kubexm::config {

namespace {

/// Writes the members of a struct one by one, as `fields` names them.
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
    void operator()(std::string_view key, const std::string& value, Rule) const {
        text(key, value);
    }

private:
    void text(std::string_view key, const std::string& value) const {
        out << YAML::Key << std::string(key) << YAML::Value << value;
        const auto origin = origins.find(prefix + std::string(key));
        if (origin != origins.end()) out << YAML::Comment(printable(origin->second));
    }
};

}  // namespace

std::string effective(const Config& config) {
    YAML::Emitter out;
    out << YAML::BeginMap;
    Config::fields(config, MemberWriter{out, config.origins, ""});
    out << YAML::EndMap << YAML::Newline;
    return out.c_str();
}

}  // namespace kubexm::config
