#include "daemon/model/permits.hpp"

#include <gtest/gtest.h>

namespace kubexm::model {
namespace {

TEST(Permits, SayWhatTheListsMean) {
    EXPECT_EQ(permits_of({}), (Permits{Permit::any, Permit::any})) << "left out";
    EXPECT_EQ(permits_of({.clusters = {"api:6443"}, .registries = {}}),
              (Permits{Permit::listed, Permit::none}));
    EXPECT_EQ(permits_of({.clusters = {"api:6443", "*"}}).clusters, Permit::any);
}

}  // namespace
}  // namespace kubexm::model
