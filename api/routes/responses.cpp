#include "api/routes/responses.hpp"

#include "api/view/view.hpp"

namespace kubexm::api {

Response plain(std::string_view content_type, std::string_view body,
               std::string_view cache_control) {
    return {200,
            content_type,
            {{"Cache-Control", std::string(cache_control)}, {"X-Content-Type-Options", "nosniff"}},
            std::string(body)};
}

Response problem(int status, const std::string& title, const std::string& detail) {
    auto response = plain("application/problem+json", problem_json(status, title, detail));
    response.status = status;
    return response;
}

Response wrong_method(std::string_view allowed, const std::string& detail) {
    auto refused = problem(405, "Method Not Allowed", detail);
    refused.headers.emplace_back("Allow", allowed);
    return refused;
}

}  // namespace kubexm::api
