#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"
#include "daemon/model/step.hpp"

namespace kubexm {

template <>
struct Names<model::DataKind> {
    static constexpr std::array<std::pair<model::DataKind, std::string_view>, 1> kAll{{
        {model::DataKind::ca_bundle, "ca-bundle"},
    }};
};

template <>
struct Names<model::SideEffect> {
    static constexpr std::array<std::pair<model::SideEffect, std::string_view>, 7> kAll{{
        {model::SideEffect::pods, "pods"},
        {model::SideEffect::chains, "chains"},
        {model::SideEffect::sets, "sets"},
        {model::SideEffect::links, "links"},
        {model::SideEffect::routes, "routes"},
        {model::SideEffect::network_files, "network-files"},
        {model::SideEffect::cgroups, "cgroups"},
    }};
};

template <>
struct Names<model::TaintEffect> {
    // As Kubernetes spells them.
    static constexpr std::array<std::pair<model::TaintEffect, std::string_view>, 3> kAll{{
        {model::TaintEffect::no_schedule, "NoSchedule"},
        {model::TaintEffect::prefer_no_schedule, "PreferNoSchedule"},
        {model::TaintEffect::no_execute, "NoExecute"},
    }};
};

template <>
struct Names<model::CgroupDriver> {
    static constexpr std::array<std::pair<model::CgroupDriver, std::string_view>, 2> kAll{{
        {model::CgroupDriver::systemd, "systemd"},
        {model::CgroupDriver::cgroupfs, "cgroupfs"},
    }};
};

template <>
struct Names<model::KubeconfigUser> {
    static constexpr std::array<std::pair<model::KubeconfigUser, std::string_view>, 2> kAll{{
        {model::KubeconfigUser::kubelet, "kubelet"},
        {model::KubeconfigUser::kube_proxy, "kube-proxy"},
    }};
};

template <>
struct Names<model::RegistryCapability> {
    // As in containerd's hosts.toml.
    static constexpr std::array<std::pair<model::RegistryCapability, std::string_view>, 2> kAll{{
        {model::RegistryCapability::pull, "pull"},
        {model::RegistryCapability::resolve, "resolve"},
    }};
};

template <>
struct Names<model::ManagedService> {
    static constexpr std::array<std::pair<model::ManagedService, std::string_view>, 2> kAll{{
        {model::ManagedService::kubelet, "kubelet"},
        {model::ManagedService::containerd, "containerd"},
    }};
};

}  // namespace kubexm
