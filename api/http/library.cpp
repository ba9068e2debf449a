#include "api/http/library.hpp"

#include <drogon/drogon.h>

namespace kubexm::http {

std::string library() { return "Drogon " + drogon::getVersion(); }

}  // namespace kubexm::http
