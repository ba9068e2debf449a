#include "daemon/kube/answers.hpp"

#include <fmt/format.h>

#include "daemon/kube/failures.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr int kAccepted = 200;
constexpr int kFirstError = 300;  // a redirect is none of our answers either

Failure too_large(const std::string& what, std::string_view object, std::size_t limit) {
    return {.error = {Code::invalid, fmt::format("{}: expected {} of at most {} MiB, found more",
                                                 what, object, limit / 1024 / 1024)}};
}

}  // namespace

bool Unary::take(std::string_view bytes) {
    is_too_large_ = body_.size() + bytes.size() > kMaxAnswer;
    if (!is_too_large_) body_ += bytes;
    return !is_too_large_;
}

void Unary::finish(CURLcode outcome) { tell(answer(outcome)); }

void Unary::refuse(const Error& error) { tell(std::unexpected(Failure{.error = error})); }

Answer<json> Unary::answer(CURLcode outcome) const {
    if (is_too_large_) return std::unexpected(too_large(what(), "an answer", kMaxAnswer));
    if (outcome != CURLE_OK) return std::unexpected(no_answer(outcome));
    if (status() >= kFirstError) {
        return std::unexpected(refusal(what(), status(), body_, retry_after()));
    }
    auto parsed = parse_answer(body_);
    if (parsed) return std::move(*parsed);
    return std::unexpected(
        Failure{.error = during(what(), parsed.error()).error(), .status = status()});
}

void Unary::tell(Answer<json> answer) {
    if (auto callback = std::exchange(callback_, nullptr)) callback(std::move(answer));
}

void Stream::on_head() {
    if (status() != kAccepted) return;
    has_begun_ = true;
    multi_.note(*this);
}

bool Stream::take(std::string_view bytes) {
    if (status() >= kFirstError) {
        if (body_.size() + bytes.size() <= kMaxAnswer) body_ += bytes;
        return true;
    }
    multi_.note(*this);
    is_too_large_ = !lines_.append(bytes);
    return !is_too_large_;
}

void Stream::deliver() {
    if (end_ && std::exchange(has_begun_, false)) line_("");
    for (auto line = lines_.next(); line && end_; line = lines_.next()) line_(*line);
}

void Stream::finish(CURLcode outcome) { tell(answer(outcome)); }

void Stream::refuse(const Error& error) { tell(std::unexpected(Failure{.error = error})); }

Answer<void> Stream::answer(CURLcode outcome) const {
    if (is_too_large_) return std::unexpected(too_large(what(), "a line", kMaxLine));
    if (outcome != CURLE_OK) return std::unexpected(no_answer(outcome));
    if (status() < kFirstError) return {};
    return std::unexpected(refusal(what(), status(), body_, retry_after()));
}

void Stream::tell(Answer<void> answer) {
    if (auto end = std::exchange(end_, nullptr)) end(std::move(answer));
}

}  // namespace kubexm::kube
