#include "daemon/model/node_labels.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kubexm::model {
namespace {

TEST(KubeletLabels, OfKubernetesOwnNamespacesAreThoseOnItsList) {
    for (const std::string key :
         {"site", "example.com/site", "kubernetes.io.example.com/a", "mykubernetes.io/a",
          "kubernetes.io/hostname", "kubernetes.io/os", "topology.kubernetes.io/zone",
          "beta.kubernetes.io/instance-type", "node.kubernetes.io/anything",
          "a.node.kubernetes.io/b", "kubelet.kubernetes.io/a"}) {
        EXPECT_TRUE(may_kubelet_set_label(key)) << key;
    }
    for (const std::string key :
         {"node-role.kubernetes.io/worker", "kubernetes.io/a", "k8s.io/a", "x.k8s.io/a",
          "cluster.x-k8s.io.k8s.io/a", "topology.kubernetes.io/rack",
          "node-restriction.kubernetes.io/a", "anode.kubernetes.io/a"}) {
        EXPECT_FALSE(may_kubelet_set_label(key)) << key;
    }
}

}  // namespace
}  // namespace kubexm::model
