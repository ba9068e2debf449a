#include <fmt/format.h>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/templates.hpp"
#include "daemon/executor/render/unit_text.hpp"
#include "daemon/executor/render/validation.hpp"

namespace kubexm::executor {

namespace {

using model::ProxyDropIn;

Result<> validate(const ProxyDropIn& drop_in) {
    Validation validation;
    validation.optional_text("http_proxy", drop_in.http_proxy, kProxyUrl);
    validation.optional_text("https_proxy", drop_in.https_proxy, kProxyUrl);
    validation.optional_text("no_proxy", drop_in.no_proxy, kNoProxyList);
    validation.that(!drop_in.http_proxy.empty() || !drop_in.https_proxy.empty(), "https_proxy",
                    "a proxy here or in http_proxy");
    return validation.outcome();
}

/// kubelet and containerd are Go programs, which read the capital names.
std::string settings(const ProxyDropIn& drop_in) {
    std::vector<std::string> words;
    const auto add = [&words](std::string_view name, const std::string& value) {
        if (!value.empty()) words.push_back(environment_word(fmt::format("{}={}", name, value)));
    };
    add("HTTP_PROXY", drop_in.http_proxy);
    add("HTTPS_PROXY", drop_in.https_proxy);
    add("NO_PROXY", drop_in.no_proxy);
    return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

Result<std::string> content_of(const ProxyDropIn& drop_in) {
    TRY(validate(drop_in));
    return filled(kProxyDropInTemplate, "@SETTINGS@", settings(drop_in));
}

}  // namespace kubexm::executor
