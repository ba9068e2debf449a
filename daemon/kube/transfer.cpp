#include "daemon/kube/transfer.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <new>
#include <tuple>
#include <utility>

#include "daemon/base/text.hpp"
#include "daemon/base/version.hpp"

namespace kubexm::kube {

namespace {

using namespace std::chrono_literals;

// The kernel detects a dead peer within about 30 s without waking the process.
constexpr long kKeepIdle = 15;
constexpr long kKeepInterval = 5;
constexpr int kKeepCount = 3;
constexpr int kUserTimeout = 30'000;
constexpr long kConnectTimeout = 30'000;
constexpr long kMaxIdle = 60;  // seconds; of a connection without request
constexpr auto kLongestRetryAfter = 1h;
constexpr std::size_t kMaxPathShown = 200;
constexpr std::size_t kMaxErrorShown = 300;

/// Remembers the first failure: with any option missing the request must not be sent.
class Options {
public:
    explicit Options(CURL* easy) : easy_(easy) {}

    template <typename T>
    void set(CURLoption option, T value) {
        if (outcome_ == CURLE_OK) outcome_ = ::curl_easy_setopt(easy_, option, value);
    }
    void set_blob(CURLoption option, std::string_view bytes) {
        curl_blob blob{.data = const_cast<char*>(bytes.data()),  // curl only reads it
                       .len = bytes.size(),
                       .flags = CURL_BLOB_NOCOPY};
        set(option, &blob);
    }
    CURLcode outcome() const { return outcome_; }

private:
    CURL* easy_;
    CURLcode outcome_ = CURLE_OK;
};

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* transfer) noexcept {
    return static_cast<Transfer*>(transfer)->receive({bytes, size}) ? size : 0;
}

std::size_t on_header(char* line, std::size_t, std::size_t size, void* transfer) noexcept {
    if (std::string_view(line, size) != "\r\n") return size;
    static_cast<Transfer*>(transfer)->note_date();
    static_cast<Transfer*>(transfer)->on_head();
    return size;
}

int on_socket(void*, curl_socket_t fd, curlsocktype) noexcept {
    std::ignore = ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kKeepCount, sizeof kKeepCount);
    std::ignore =
        ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeout, sizeof kUserTimeout);
    return CURL_SOCKOPT_OK;
}

/// The server's verification and our identity.
void set_trust(Options& options, const ApiServer& server) {
    options.set(CURLOPT_PROTOCOLS_STR, "https");
    options.set(CURLOPT_FOLLOWLOCATION, 0L);
    options.set(CURLOPT_PROXY, "");  // also none of the environment
    options.set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    options.set(CURLOPT_SSL_VERIFYPEER, 1L);
    options.set(CURLOPT_SSL_VERIFYHOST, 2L);
    options.set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    options.set(CURLOPT_SSL_SESSIONID_CACHE, 0L);  // a resumed session keeps its old identity
    options.set(CURLOPT_CAPATH, static_cast<char*>(nullptr));  // the default is the system's CAs
    options.set(CURLOPT_CAINFO, static_cast<char*>(nullptr));
    options.set_blob(CURLOPT_CAINFO_BLOB, server.credentials.ca);
    if (server.credentials.certificate.empty()) return;
    options.set_blob(CURLOPT_SSLCERT_BLOB, server.credentials.certificate);
    options.set_blob(CURLOPT_SSLKEY_BLOB, server.credentials.key.reveal());
}

void set_transport(Options& options, const ApiRequest& request) {
    options.set(CURLOPT_NOSIGNAL, 1L);
    options.set(CURLOPT_QUICK_EXIT, 1L);  // do not wait for a pending name lookup
    options.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    options.set(CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeout);
    options.set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.limit.count()));
    options.set(CURLOPT_MAXAGE_CONN, kMaxIdle);
    options.set(CURLOPT_TCP_KEEPALIVE, 1L);
    options.set(CURLOPT_TCP_KEEPIDLE, kKeepIdle);
    options.set(CURLOPT_TCP_KEEPINTVL, kKeepInterval);
    options.set(CURLOPT_SOCKOPTFUNCTION, on_socket);
    options.set(CURLOPT_FORBID_REUSE, request.is_stream ? 1L : 0L);
}

void set_body(Options& options, const ApiRequest& request) {
    options.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.method == "GET") return;
    options.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    options.set(CURLOPT_POSTFIELDS, request.body.c_str());
}

/// The host of the URL; CURLOPT_CONNECT_TO has the address.
std::string host_of(const ApiServer& server) {
    return server.credentials.server_name.empty() ? server.url.host
                                                  : server.credentials.server_name;
}

Code code_of(CURLcode outcome) {
    return outcome == CURLE_OPERATION_TIMEDOUT ? Code::timeout : Code::unavailable;
}

}  // namespace

Headers::~Headers() {
    for (curl_slist* item = list_; item != nullptr; item = item->next) {
        ::explicit_bzero(item->data, std::strlen(item->data));
    }
    ::curl_slist_free_all(list_);
}

void Headers::add(std::string&& line) {
    curl_slist* longer = ::curl_slist_append(list_, line.c_str());
    wipe(line);
    if (longer == nullptr) throw std::bad_alloc();
    list_ = longer;
}

Transfer::Transfer(std::shared_ptr<ApiServer> server, ApiRequest request)
    : server_(std::move(server)),
      request_(std::move(request)),
      description_(fmt::format("{} {} at {}", request_.method,
                               printable(std::string_view(request_.path).substr(0, kMaxPathShown)),
                               server_->url.text())),
      easy_(::curl_easy_init()) {}

void Transfer::add_headers() {
    headers_.add(fmt::format("User-Agent: kubexmd/{}", kVersion));
    headers_.add("Accept: application/json");
    headers_.add("Expect:");  // no 100-continue for larger bodies
    if (!request_.content_type.empty()) headers_.add("Content-Type: " + request_.content_type);
    if (const Secret& token = server_->credentials.token; !token.empty()) {
        std::string line;
        line.reserve(64 + token.reveal().size());  // growing would leave a copy in memory
        headers_.add(std::move(line.append("Authorization: Bearer ").append(token.reveal())));
    }
}

Result<> Transfer::prepare() {
    if (!easy_) throw std::bad_alloc();
    add_headers();
    const ServerUrl& url = server_->url;
    connect_to_.reset(
        ::curl_slist_append(nullptr, fmt::format("::{}:{}", url.host, url.port).c_str()));
    const std::string full =
        fmt::format("https://{}:{}{}{}", host_of(*server_), url.port, url.path, request_.path);
    Options options(easy_.get());
    set_trust(options, *server_);
    set_transport(options, request_);
    set_body(options, request_);
    options.set(CURLOPT_URL, full.c_str());
    options.set(CURLOPT_CONNECT_TO, connect_to_.get());
    options.set(CURLOPT_HTTPHEADER, headers_.list());
    options.set(CURLOPT_ERRORBUFFER, error_.data());
    options.set(CURLOPT_PRIVATE, static_cast<void*>(this));
    options.set(CURLOPT_HEADERFUNCTION, on_header);
    options.set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    options.set(CURLOPT_WRITEFUNCTION, on_body);
    options.set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    if (options.outcome() == CURLE_OK) return {};
    return fail(Code::internal,
                fmt::format("{}: {}", description_, ::curl_easy_strerror(options.outcome())));
}

int Transfer::status() const {
    long status = 0;
    ::curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
}

void Transfer::note_date() const {
    curl_header* date = nullptr;
    const auto got = ::curl_easy_header(easy_.get(), "Date", 0, CURLH_HEADER, -1, &date);
    const time_t seconds = got == CURLHE_OK ? ::curl_getdate(date->value, nullptr) : -1;
    if (seconds < 0) return;
    server_->clock_offset = std::chrono::seconds(seconds - ::time(nullptr));
}

std::chrono::seconds Transfer::retry_after() const {
    curl_off_t seconds = 0;
    ::curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds);
    return std::clamp<std::chrono::seconds>(std::chrono::seconds(seconds), 0s, kLongestRetryAfter);
}

Failure Transfer::no_response(CURLcode outcome) const {
    const std::string_view detail = error_.data();
    const std::string why = detail.empty() ? ::curl_easy_strerror(outcome)
                                           : printable(detail.substr(0, kMaxErrorShown));
    const bool untrusted = outcome == CURLE_PEER_FAILED_VERIFICATION;
    const char* const hint =
        untrusted ? "; check that the CA in the kubeconfig or secret is the one of this server"
                  : "";
    return {.error = {code_of(outcome), fmt::format("{}: {}{}", description_, why, hint)},
            .status = status(),
            .untrusted = untrusted};
}

}  // namespace kubexm::kube
