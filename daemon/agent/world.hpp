#pragma once

#include <string>

#include "daemon/agent/board.hpp"
#include "daemon/agent/hands_talk.hpp"
#include "daemon/agent/store.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

/// What everybody who does something for this host needs. All of it outlives them.
struct World {
    Loop& loop;
    HandsTalk& hands;    // questions and orders
    HandsTalk& reports;  // plans as they are carried out: it may take minutes until one ends
    const Store& store;
    Board& board;
    model::HostFacts facts;
    std::string space;  // the namespace of the ByoHost
};

}  // namespace kubexm::agent
