#include "daemon/executor/host/unit_properties.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

// Readers return the numbers of sd-bus: positive, 0 at the end, negative for an error.

template <std::string UnitProperties::* kMember>
int read_string(sd_bus_message* from, UnitProperties& to) {
    const char* text = nullptr;
    const int got = sd_bus_message_read(from, "s", &text);
    if (got > 0) to.*kMember = text;
    return got;
}

template <bool UnitProperties::* kMember>
int read_bool(sd_bus_message* from, UnitProperties& to) {
    int value = 0;
    const int got = sd_bus_message_read(from, "b", &value);
    if (got > 0) to.*kMember = value != 0;
    return got;
}

template <std::int32_t UnitProperties::* kMember>
int read_number(sd_bus_message* from, UnitProperties& to) {
    return sd_bus_message_read(from, "i", &(to.*kMember));
}

int read_job(sd_bus_message* from, UnitProperties& to) {
    const char* path = nullptr;
    const int got = sd_bus_message_read(from, "(uo)", nullptr, &path);
    if (got > 0) to.job = path;
    return got;
}

int read_strings(sd_bus_message* from, std::vector<std::string>& to) {
    const char* text = nullptr;
    int got = sd_bus_message_enter_container(from, 'a', "s");
    while (got > 0 && (got = sd_bus_message_read(from, "s", &text)) > 0) to.emplace_back(text);
    return got < 0 ? got : sd_bus_message_exit_container(from);
}

int read_drop_ins(sd_bus_message* from, UnitProperties& to) {
    return read_strings(from, to.drop_ins);
}

int read_command(sd_bus_message* from, UnitProperties& to) {
    int got = sd_bus_message_enter_container(from, 'r', "sasbttttuii");
    if (got <= 0) return got;
    UnitCommand& command = to.commands.emplace_back();
    const char* program = nullptr;
    got = sd_bus_message_read(from, "s", &program);
    if (got > 0) command.program = program;
    if (got >= 0) got = read_strings(from, command.argv);
    if (got >= 0) got = sd_bus_message_skip(from, "bttttuii");
    return got < 0 ? got : sd_bus_message_exit_container(from);
}

int read_commands(sd_bus_message* from, UnitProperties& to) {
    int got = sd_bus_message_enter_container(from, 'a', "(sasbttttuii)");
    while (got > 0) got = read_command(from, to);
    return got < 0 ? got : sd_bus_message_exit_container(from);
}

/// Positive: it has elements. All are skipped.
int read_is_filled(sd_bus_message* from, const std::string& elements) {
    int got = sd_bus_message_enter_container(from, SD_BUS_TYPE_ARRAY, elements.c_str());
    int count = 0;
    while (got >= 0 && sd_bus_message_at_end(from, 0) == 0) {
        got = sd_bus_message_skip(from, elements.c_str());
        ++count;
    }
    if (got >= 0) got = sd_bus_message_exit_container(from);
    return got < 0 ? got : count;
}

/// Positive: a list with elements, a text that is not empty, a flag that is set.
int read_has_value(sd_bus_message* from) {
    char type = 0;
    const char* elements = nullptr;
    int got = sd_bus_message_peek_type(from, &type, &elements);
    if (got < 0) return got;
    if (type == SD_BUS_TYPE_ARRAY) return read_is_filled(from, elements);
    if (type == SD_BUS_TYPE_BOOLEAN) {
        int value = 0;
        got = sd_bus_message_read(from, "b", &value);
        return got < 0 ? got : value;
    }
    const char* text = "";
    got = sd_bus_message_read(from, "s", &text);
    return got < 0 ? got : static_cast<int>(*text != '\0');
}

/// What ld.so reads changes every program: LD_PRELOAD, LD_AUDIT, ...
int read_environment(sd_bus_message* from, UnitProperties& to) {
    std::vector<std::string> variables;
    const int got = read_strings(from, variables);
    const auto is_linkers = [](const std::string& each) { return each.starts_with("LD_"); };
    if (std::ranges::any_of(variables, is_linkers)) to.start_settings.emplace_back("Environment");
    return got;
}

/// Commands beside ExecStart=, and what gives the process another user or other files.
constexpr std::string_view kStartSettings[] = {
    "ExecCondition",       "ExecStartPre", "ExecStartPost", "ExecReload",        "ExecStop",
    "ExecStopPost",        "User",         "Group",         "DynamicUser",       "RootDirectory",
    "RootImage",           "BindPaths",    "MountImages",   "BindReadOnlyPaths", "ExtensionImages",
    "ExtensionDirectories"};

/// In the variant of a property.
int read_start_setting(sd_bus_message* from, std::string_view name, UnitProperties& to) {
    char type = 0;
    const char* content = nullptr;
    int got = sd_bus_message_peek_type(from, &type, &content);
    if (got < 0) return got;
    got = sd_bus_message_enter_container(from, SD_BUS_TYPE_VARIANT, content);
    if (got < 0) return got;
    const int has_value = read_has_value(from);
    if (has_value < 0) return has_value;
    if (has_value > 0) to.start_settings.emplace_back(name);
    return sd_bus_message_exit_container(from);
}

struct Known {
    std::string_view name;
    const char* type;
    int (*read)(sd_bus_message*, UnitProperties&);
};

constexpr Known kKnown[] = {
    {"LoadState", "s", read_string<&UnitProperties::load>},
    {"ActiveState", "s", read_string<&UnitProperties::active>},
    {"SubState", "s", read_string<&UnitProperties::sub>},
    {"FragmentPath", "s", read_string<&UnitProperties::fragment>},
    {"Result", "s", read_string<&UnitProperties::result>},
    {"Where", "s", read_string<&UnitProperties::where>},
    {"What", "s", read_string<&UnitProperties::what>},
    {"Priority", "i", read_number<&UnitProperties::priority>},
    {"Job", "(uo)", read_job},
    {"ExecMainCode", "i", read_number<&UnitProperties::main_code>},
    {"ExecMainStatus", "i", read_number<&UnitProperties::main_status>},
    {"NeedDaemonReload", "b", read_bool<&UnitProperties::needs_reload>},
    {"Transient", "b", read_bool<&UnitProperties::transient>},
    {"DropInPaths", "as", read_drop_ins},
    {"ExecStart", "a(sasbttttuii)", read_commands},
    {"Environment", "as", read_environment},
};

int read_property(sd_bus_message* from, UnitProperties& to) {
    const char* name = nullptr;
    int got = sd_bus_message_read(from, "s", &name);
    if (got < 0) return got;
    const auto* known = std::ranges::find(kKnown, std::string_view(name), &Known::name);
    if (std::ranges::find(kStartSettings, name) != std::end(kStartSettings)) {
        return read_start_setting(from, name, to);
    }
    if (known == std::end(kKnown)) return sd_bus_message_skip(from, "v");
    got = sd_bus_message_enter_container(from, 'v', known->type);
    if (got >= 0) got = known->read(from, to);
    return got < 0 ? got : sd_bus_message_exit_container(from);
}

int read_properties(sd_bus_message* from, UnitProperties& to) {
    int got = sd_bus_message_enter_container(from, 'a', "{sv}");
    while (got >= 0 && (got = sd_bus_message_enter_container(from, 'e', "sv")) > 0) {
        got = read_property(from, to);
        if (got >= 0) got = sd_bus_message_exit_container(from);
    }
    return got;
}

}  // namespace

Result<UnitProperties> properties_of_unit(Manager& manager, const std::string& unit,
                                          Deadline deadline) {
    const auto reply = TRY(manager.ask(manager.request("LoadUnit", "s", unit.c_str()), deadline));
    const std::string object = TRY(read_text(reply, "o"));
    return properties_of_object(manager, object, deadline);
}

Result<UnitProperties> properties_of_object(Manager& manager, const std::string& object,
                                            Deadline deadline) {
    auto request = manager.request_to(object, "org.freedesktop.DBus.Properties", "GetAll");
    request.add("s", "");  // of all interfaces, as systemctl does
    const auto reply = TRY(manager.ask(request, deadline));
    UnitProperties properties;
    if (read_properties(reply.get(), properties) < 0) {
        return bus::unexpected_types(reply.get(), "a{sv} of a unit");
    }
    return properties;
}

}  // namespace kubexm::executor
