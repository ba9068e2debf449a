#pragma once

#include <memory>
#include <nlohmann/json.hpp>  // a callback's parameter must be complete
#include <string>
#include <string_view>
#include <utility>

#include "daemon/kube/line_buffer.hpp"
#include "daemon/kube/multi.hpp"
#include "daemon/kube/transfer.hpp"

namespace kubexm::kube {

inline constexpr std::size_t kMaxResponse = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t kMaxLine = std::size_t{16} * 1024 * 1024;

/// One response, delivered as a whole.
class UnaryTransfer final : public Transfer {
public:
    UnaryTransfer(std::shared_ptr<ApiServer> server, ApiRequest request, Api::Callback callback)
        : Transfer(std::move(server), std::move(request)), callback_(std::move(callback)) {}

    bool receive(std::string_view bytes) override;
    void finish(CURLcode outcome) override;
    void abort(const Error& error) override;
    void cancel() override { callback_ = nullptr; }

private:
    Answer<nlohmann::json> result(CURLcode outcome) const;
    void complete(Answer<nlohmann::json> result);

    Api::Callback callback_;
    std::string body_;
    bool is_too_large_ = false;
};

/// Delivers a successful response line by line.
class StreamTransfer final : public Transfer {
public:
    /// `multi` must outlive it.
    StreamTransfer(std::shared_ptr<ApiServer> server, ApiRequest request, Multi& multi,
                   Api::LineCallback line, Api::EndCallback end)
        : Transfer(std::move(server), std::move(request)),
          multi_(multi),
          line_(std::move(line)),
          end_(std::move(end)) {}

    void on_head() override;
    bool receive(std::string_view bytes) override;
    void deliver() override;
    void finish(CURLcode outcome) override;
    void abort(const Error& error) override;
    /// line_ may be running, so it is destroyed with the transfer.
    void cancel() override { end_ = nullptr; }

private:
    Answer<void> result(CURLcode outcome) const;
    void complete(Answer<void> result);

    Multi& multi_;
    Api::LineCallback line_;
    Api::EndCallback end_;
    LineBuffer lines_{kMaxLine};
    std::string body_;  // of an error
    bool has_begun_ = false;
    bool is_too_large_ = false;
};

}  // namespace kubexm::kube
