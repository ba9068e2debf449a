#include "daemon/kube/transfers.hpp"

#include <fmt/format.h>

#include "daemon/kube/failure.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr int kFirstError = 300;  // redirects are not followed

Failure too_large(const std::string& request, std::string_view object, std::size_t limit) {
    return {.error = {Code::invalid, fmt::format("{}: expected {} of at most {} MiB, found more",
                                                 request, object, limit / 1024 / 1024)}};
}

}  // namespace

bool UnaryTransfer::receive(std::string_view bytes) {
    is_too_large_ = body_.size() + bytes.size() > kMaxResponse;
    if (!is_too_large_) body_ += bytes;
    return !is_too_large_;
}

void UnaryTransfer::finish(CURLcode outcome) { complete(result(outcome)); }

void UnaryTransfer::abort(const Error& error) {
    complete(std::unexpected(Failure{.error = error}));
}

Answer<json> UnaryTransfer::result(CURLcode outcome) const {
    if (is_too_large_) return std::unexpected(too_large(description(), "a response", kMaxResponse));
    if (outcome != CURLE_OK) return std::unexpected(no_response(outcome));
    if (status() >= kFirstError) {
        return std::unexpected(failure_of(description(), status(), body_, retry_after()));
    }
    auto parsed = parse_response(body_);
    if (parsed) return std::move(*parsed);
    return std::unexpected(
        Failure{.error = during(description(), parsed.error()).error(), .status = status()});
}

void UnaryTransfer::complete(Answer<json> result) {
    if (auto callback = std::exchange(callback_, nullptr)) callback(std::move(result));
}

void StreamTransfer::on_head() {
    if (status() != HttpStatus::ok) return;
    has_begun_ = true;
    multi_.schedule_delivery(*this);
}

bool StreamTransfer::receive(std::string_view bytes) {
    if (status() >= kFirstError) {
        if (body_.size() + bytes.size() <= kMaxResponse) body_ += bytes;
        return true;
    }
    multi_.schedule_delivery(*this);
    is_too_large_ = !lines_.append(bytes);
    return !is_too_large_;
}

void StreamTransfer::deliver() {
    if (end_ && std::exchange(has_begun_, false)) line_("");
    for (auto line = lines_.next(); line && end_; line = lines_.next()) line_(*line);
}

void StreamTransfer::finish(CURLcode outcome) { complete(result(outcome)); }

void StreamTransfer::abort(const Error& error) {
    complete(std::unexpected(Failure{.error = error}));
}

Answer<void> StreamTransfer::result(CURLcode outcome) const {
    if (is_too_large_) return std::unexpected(too_large(description(), "a line", kMaxLine));
    if (outcome != CURLE_OK) return std::unexpected(no_response(outcome));
    if (status() < kFirstError) return {};
    return std::unexpected(failure_of(description(), status(), body_, retry_after()));
}

void StreamTransfer::complete(Answer<void> result) {
    if (auto end = std::exchange(end_, nullptr)) end(std::move(result));
}

}  // namespace kubexm::kube
