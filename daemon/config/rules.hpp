#pragma once

#include <string_view>

#include "daemon/base/grammar.hpp"

// Rules of values that only a configuration has; base/grammar.hpp has the others.

namespace kubexm::config {

bool is_optional_path(std::string_view text);
bool is_optional_host_name(std::string_view text);
bool is_optional_loopback_endpoint(std::string_view text);
bool is_allowed_sysctl_pattern(std::string_view text);
bool is_step_type(std::string_view text);
bool is_document_type(std::string_view text);
bool is_allowed_server(std::string_view text);
bool is_allowed_registry(std::string_view text);
bool is_pods_timeout(std::string_view text);
bool is_check_id(std::string_view text);

/// "" where the default is determined at run time.
inline constexpr Rule kOptionalPath{is_optional_path, kAbsolutePath.words};
inline constexpr Rule kOptionalHostName{is_optional_host_name, kNodeName.words};
inline constexpr Rule kOptionalLoopbackEndpoint{
    is_optional_loopback_endpoint,
    "127.0.0.1:PORT, [::1]:PORT or nothing: the API is for this host only"};
inline constexpr Rule kAllowedSysctlPattern{
    is_allowed_sysctl_pattern,
    "a sysctl key (net.ipv4.ip_forward) or all keys below one (fs.inotify.*), none of which makes "
    "the kernel run programs or give up its protections"};

inline constexpr Rule kStepType{is_step_type, "a type of steps, such as data-file"};
inline constexpr Rule kDocumentType{is_document_type,
                                    "a type of rendered files, such as kubelet-service"};
inline constexpr Rule kAllowedServer{
    is_allowed_server,
    "HOST:PORT of an API server, or \"*\" for any, and the pins of its "
    "CAs: \"HOST:PORT sha256:HEX\""};
inline constexpr Rule kCheckId{is_check_id,
                               "a check that kubexmctl preflight shows, such as swap-on"};
inline constexpr Rule kPodsTimeout{
    is_pods_timeout,
    "at most 2m, such as 90s: the management cluster waits five minutes for a release"};
inline constexpr Rule kAllowedRegistry{is_allowed_registry,
                                       "HOST or HOST:PORT of a registry, with http:// in front of "
                                       "it for one without TLS, or \"*\" for "
                                       "any"};

}  // namespace kubexm::config
