#include "daemon/cli/status.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/base/try.hpp"
#include "daemon/cli/api_client.hpp"
#include "daemon/cli/status_text.hpp"

namespace kubexm::cli {

namespace {

using nlohmann::json;

Result<int> show(const std::string& socket, const char* path, Form form,
                 std::string (*as_text)(const json&)) {
    const json document = TRY(ask_api(socket, path));
    // The same bytes as api/view: ASCII, so that a terminal obeys none of them.
    const auto as_json = [&] {
        return document.dump(2, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace) + "\n";
    };
    fmt::print("{}", form == Form::json ? as_json() : as_text(document));
    return 0;
}

}  // namespace

Result<int> status(const std::string& socket, Form form) {
    return show(socket, "/v1/status", form, status_text);
}

Result<int> plan(const std::string& socket, Form form) {
    return show(socket, "/v1/plan", form, plan_text);
}

Result<int> certificates(const std::string& socket, Form form) {
    return show(socket, "/v1/certificates", form, certificates_text);
}

}  // namespace kubexm::cli
