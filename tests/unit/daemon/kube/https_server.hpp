#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/base/fd.hpp"
#include "tests/unit/test_authority.hpp"

// An HTTPS server whose responses the test writes, well-formed or not.

namespace kubexm {

struct Seen {
    std::string method;
    std::string path;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
    std::string client;  // the common name of the client's certificate
    int connection = 0;  // the first is 1
    std::chrono::steady_clock::time_point at;
};

/// The server's side of one connection. Writing after the client has closed it is no error.
class Connection {
public:
    explicit Connection(SSL* ssl) : ssl_(ssl) {}

    void send(std::string_view bytes);
    /// A whole response with JSON.
    void answer(int status, std::string_view body, std::string_view headers = "");
    /// The head of a chunked response, and its chunks; an empty one is the last.
    void begin_chunks();
    void chunk(std::string_view bytes);
    /// No request will follow.
    void close() { is_closed_ = true; }
    bool is_closed() const { return is_closed_; }
    /// Waits until the client or the end of the server closes the connection.
    void wait_for_the_client_to_go();
    bool read(std::string& into);

private:
    SSL* ssl_;
    bool is_closed_ = false;
};

class HttpsServer {
public:
    using Handler = std::function<void(const Seen&, Connection&)>;

    /// `names` are those of its certificate. Accepts clients with a certificate of that CA, or
    /// without one.
    HttpsServer(const TestAuthority& authority, Handler handler,
                const std::string& names = "IP:127.0.0.1");
    HttpsServer(const HttpsServer&) = delete;
    HttpsServer& operator=(const HttpsServer&) = delete;
    ~HttpsServer();

    std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
    std::vector<Seen> seen() const;
    /// The number of TCP connections so far.
    int connections() const;

private:
    struct Free {
        void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
    };
    struct Peer {
        Fd fd;
        std::thread thread;
    };

    void accept_all();
    void serve(int fd, int number);
    bool serve_one(SSL* ssl, Connection& connection, int number);

    Handler handler_;
    std::unique_ptr<SSL_CTX, Free> context_;
    Fd listener_;
    int port_ = 0;
    mutable std::mutex mutex_;
    std::vector<Seen> seen_;  // guarded by mutex_
    std::list<Peer> peers_;   // guarded by mutex_
    std::thread acceptor_;
};

}  // namespace kubexm
