#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/document.hpp"

namespace kubexm::executor {

/// The input of the checks before a join.
struct PreflightFacts {
    // kubelet.service
    bool kubelet_active = false;
    bool kubelet_enabled = false;
    bool kubelet_is_ours = false;       // kubexm wrote its unit file
    std::vector<std::string> drop_ins;  // "FILE sets ExecStart=": it starts otherwise
    std::optional<Error> kubelet;       // why the program cannot be run
    std::string version;                // of the program: "v1.34.1"
    // Files of a node that kubexm did not write.
    std::vector<std::string> kubeconfigs;
    std::vector<std::string> manifests;
    // The container runtime
    std::optional<Error> runtime;  // why it does not answer
    std::optional<Error> cri;      // why it does not serve Kubernetes
    std::size_t pods = 0;
    std::optional<model::CgroupDriver> cgroup_driver;  // none: it does not say
    std::vector<std::string> allowed_clusters{"*"};    // as root lists them
    // The system
    std::vector<std::string> swaps;
    std::string kernel;  // "6.1.0-25-amd64"
    bool port_taken = false;
    std::vector<std::string> missing_tools;
};

}  // namespace kubexm::executor
