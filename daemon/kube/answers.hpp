#pragma once

#include <memory>
#include <nlohmann/json.hpp>  // a callback's parameter must be complete
#include <string>
#include <string_view>
#include <utility>

#include "daemon/kube/exchange.hpp"
#include "daemon/kube/line_buffer.hpp"
#include "daemon/kube/multi.hpp"

namespace kubexm::kube {

inline constexpr std::size_t kMaxAnswer = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t kMaxLine = std::size_t{16} * 1024 * 1024;

/// One answer, whole.
class Unary final : public Exchange {
public:
    Unary(std::shared_ptr<const Endpoint> identity, Request request, Api::Callback callback)
        : Exchange(std::move(identity), std::move(request)), callback_(std::move(callback)) {}

    bool take(std::string_view bytes) override;
    void finish(CURLcode outcome) override;
    void refuse(const Error& error) override;
    void silence() override { callback_ = nullptr; }

private:
    Answer<nlohmann::json> answer(CURLcode outcome) const;
    void tell(Answer<nlohmann::json> answer);

    Api::Callback callback_;
    std::string body_;
    bool is_too_large_ = false;
};

/// Lines as they come; the body of a refusal is none.
class Stream final : public Exchange {
public:
    /// `multi` outlives it.
    Stream(std::shared_ptr<const Endpoint> identity, Request request, Multi& multi,
           Api::LineCallback line, Api::EndCallback end)
        : Exchange(std::move(identity), std::move(request)),
          multi_(multi),
          line_(std::move(line)),
          end_(std::move(end)) {}

    void on_head() override;
    bool take(std::string_view bytes) override;
    void deliver() override;
    void finish(CURLcode outcome) override;
    void refuse(const Error& error) override;
    /// line_ may be what runs just now: it goes with the exchange.
    void silence() override { end_ = nullptr; }

private:
    Answer<void> answer(CURLcode outcome) const;
    void tell(Answer<void> answer);

    Multi& multi_;
    Api::LineCallback line_;
    Api::EndCallback end_;
    LineBuffer lines_{kMaxLine};
    std::string body_;  // of a refusal
    bool has_begun_ = false;
    bool is_too_large_ = false;
};

}  // namespace kubexm::kube
