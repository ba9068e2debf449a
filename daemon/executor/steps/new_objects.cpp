#include "daemon/executor/steps/new_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace kubexm::executor::new_objects {

ObjectNames newer(const ObjectNames& now, const ObjectNames& before) {
    const std::set<std::string> known(before.begin(), before.end());
    ObjectNames found;
    std::ranges::copy_if(now, std::back_inserter(found),
                         [&](const std::string& name) { return !known.contains(name); });
    return found;
}

std::string listed(const ObjectNames& names) {
    constexpr std::size_t kMostNamed = 8;
    const std::size_t count = std::min(names.size(), kMostNamed);
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
    std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
    if (count == names.size()) return text;
    return fmt::format("{} and {} others", text, names.size() - count);
}

Division divide(const ObjectNames& now, const ObjectNames& before, const ObjectNames& known) {
    Division division;
    for (const std::string& name : newer(now, before)) {
        (families::has(known, name) ? division.going : division.staying).push_back(name);
    }
    return division;
}

std::string not_ours(const ObjectNames& staying) {
    if (staying.empty()) return "";
    return fmt::format(
        "{} appeared meanwhile and are not of a known pod network: remove them if "
        "nothing on this host uses them",
        listed(staying));
}

ObjectNames slices(const ObjectNames& now, const ObjectNames& before) {
    ObjectNames found = newer(now, before);
    std::erase_if(found, [](const std::string& name) {
        return name != "kubepods.slice" &&
               !(name.starts_with("kubepods-") && name.ends_with(".slice"));
    });
    // The name of a slice begins with the name of the slice around it.
    std::ranges::sort(found, std::less(), &std::string::size);
    return found;
}

}  // namespace kubexm::executor::new_objects
