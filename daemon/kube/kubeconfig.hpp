#pragma once

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/secret.hpp"

namespace kubexm::kube {

/// An API server and our identity there. The server is always verified.
struct ClusterCredentials {
    std::string server;       // "https://10.0.0.1:6443", no slash at the end
    std::string server_name;  // in its certificate, if not the host of `server`
    std::string ca;           // PEM; empty: the kubeconfig has none
    Secret token;             // a bearer token, or
    std::string certificate;  // a client certificate (PEM, chain) and
    Secret key;               // its key
};

/// The current context of a kubeconfig (client-go's rules: a server without scheme is https). Only
/// embedded data: a file reference, exec, auth-provider, user name and password,
/// insecure-skip-tls-verify and proxy-url are refused by name. Size, depth and values are bounded;
/// the message never quotes a value. A missing CA is no error: the caller may have one.
Result<ClusterCredentials> credentials_from_kubeconfig(std::string_view yaml);

/// A kubeconfig with the client certificate, for credentials_from_kubeconfig() and kubectl.
Secret kubeconfig_of(const ClusterCredentials& credentials);

}  // namespace kubexm::kube
