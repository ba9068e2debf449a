#include "tests/unit/daemon/kube/https_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

namespace kubexm {

namespace {

struct SslFree {
    void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

TestCertificate parse(const std::string& pem) {
    const TestBio bio(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return TestCertificate(::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string common_name(SSL* ssl) {
    const TestCertificate certificate(::SSL_get1_peer_certificate(ssl));
    if (!certificate) return "";
    std::array<char, 256> name{};
    ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate.get()), NID_commonName,
                                name.data(), static_cast<int>(name.size()));
    return name.data();
}

Seen parse_head(const std::string& head) {
    Seen seen;
    std::istringstream lines(head);
    lines >> seen.method >> seen.path;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && line != "\r") {
        const auto colon = line.find(": ");
        seen.headers[lower(line.substr(0, colon))] =
            line.substr(colon + 2, line.size() - colon - 3);
    }
    return seen;
}

std::size_t length_of(const Seen& seen) {
    const auto length = seen.headers.find("content-length");
    return length == seen.headers.end() ? 0 : std::stoul(length->second);
}

}  // namespace

void Connection::send(std::string_view bytes) {
    while (!bytes.empty() && !is_closed_) {
        const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), 16384));
        const int sent = ::SSL_write(ssl_, bytes.data(), size);
        if (sent <= 0) return close();
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void Connection::answer(int status, std::string_view body, std::string_view headers) {
    send(fmt::format(
        "HTTP/1.1 {} X\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}", status,
        headers, body.size(), body));
}

void Connection::begin_chunks() {
    send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void Connection::chunk(std::string_view bytes) {
    send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

void Connection::wait_for_the_client_to_go() {
    std::string ignored;
    while (read(ignored)) {
    }
    close();
}

bool Connection::read(std::string& into) {
    std::array<char, 4096> buffer{};
    const int got = ::SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) return false;
    into.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
}

HttpsServer::HttpsServer(const TestAuthority& authority, Handler handler, const std::string& names)
    : handler_(std::move(handler)),
      context_(::SSL_CTX_new(::TLS_server_method())),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const pki::Key key = make_key();
    const TestCertificate certificate = parse(authority.issue(
        key, {.subject = {{"CN", "test server"}},
              .extensions = {{NID_subject_alt_name, names}, {NID_ext_key_usage, "serverAuth"}}}));
    SSL_CTX* context = context_.get();
    require(::SSL_CTX_use_certificate(context, certificate.get()) == 1);
    require(::SSL_CTX_use_PrivateKey(context, openssl_key(key).get()) == 1);
    const TestCertificate ca = parse(authority.certificate());
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context), ca.get());
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    require(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 128) == 0 &&
            ::getsockname(listener_.get(), any, &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
}

HttpsServer::~HttpsServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (const Peer& peer : peers_) ::shutdown(peer.fd.get(), SHUT_RDWR);
    for (Peer& peer : peers_) peer.thread.join();
}

void HttpsServer::accept_all() {
    for (int number = 1;; ++number) {
        Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!fd) return;
        const std::lock_guard lock(mutex_);
        Peer& peer = peers_.emplace_back(std::move(fd));
        peer.thread = std::thread([this, raw = peer.fd.get(), number] { serve(raw, number); });
    }
}

void HttpsServer::serve(int fd, int number) {
    const std::unique_ptr<SSL, SslFree> ssl(::SSL_new(context_.get()));
    const int at_once = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    ::SSL_set_fd(ssl.get(), fd);
    if (::SSL_accept(ssl.get()) == 1) {
        Connection connection(ssl.get());
        while (serve_one(ssl.get(), connection, number)) {
        }
        ::SSL_shutdown(ssl.get());
    }
    ::shutdown(fd, SHUT_RDWR);
}

bool HttpsServer::serve_one(SSL* ssl, Connection& connection, int number) {
    std::string bytes;
    while (bytes.find("\r\n\r\n") == std::string::npos) {
        if (!connection.read(bytes)) return false;
    }
    const std::size_t head = bytes.find("\r\n\r\n") + 4;
    Seen seen = parse_head(bytes.substr(0, head));
    while (bytes.size() < head + length_of(seen)) {
        if (!connection.read(bytes)) return false;
    }
    seen.body = bytes.substr(head);
    seen.client = common_name(ssl);
    seen.connection = number;
    seen.at = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        seen_.push_back(seen);
    }
    handler_(seen, connection);
    return !connection.is_closed();
}

std::vector<Seen> HttpsServer::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

int HttpsServer::connections() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(peers_.size());
}

}  // namespace kubexm
