#pragma once

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/model/document.hpp"

namespace kubexm::executor {

// The text of each kind of document. invalid: names the parameter.
Result<std::string> content_of(const model::KubeletService& service);
Result<std::string> content_of(const model::KubeletConfiguration& configuration);
Result<std::string> content_of(const model::Kubeconfig& kubeconfig);
Result<std::string> content_of(const model::ContainerdConfiguration& configuration);
Result<std::string> content_of(const model::RegistryHosts& hosts);
Result<std::string> content_of(const model::CniConfiguration& network);
Result<std::string> content_of(const model::ProxyDropIn& drop_in);
Result<std::string> content_of(const model::SysctlFile& file);
Result<std::string> content_of(const model::ModulesFile& file);

/// The first line of a file without a template.
inline constexpr std::string_view kNotice = "Written by kubexm; manual changes are overwritten.";

// kubexmd renews certificates in place.
inline constexpr const char* kServingPair = "/var/lib/kubelet/pki/kubelet-server-current.pem";

}  // namespace kubexm::executor
