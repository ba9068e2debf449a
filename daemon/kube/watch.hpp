#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::kube {

/// One object, by name, as it is and as it changes: list, then watch from the list's version, with
/// bookmarks; after 410 a new list; after anything else the watch again from the last version, less
/// and less often while it fails. No list in normal life but the first. May be dropped inside what
/// it calls.
class Watch {
public:
    struct Listener {
        /// The object as it is now, when that has changed; null: there is none.
        std::function<void(const nlohmann::json& object)> on_object;
        /// The server answers, or why not; told at every change.
        std::function<void(const Answer<void>&)> on_change;
    };
    /// `collection`: "/api/v1/nodes", "/apis/.../namespaces/default/byohosts".
    Watch(Loop& loop, Api& api, std::string collection, std::string name, Listener listener);
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();

    void start();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace kubexm::kube
