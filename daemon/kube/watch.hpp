#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/base/random.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::kube {

struct WatchLimits {
    /// Of a server that sends bookmarks; a watch that is not answered waits for at most 30 s.
    std::chrono::milliseconds most_silence = std::chrono::seconds(110);
    /// A watch that ended sooner has failed.
    std::chrono::milliseconds shortest = std::chrono::seconds(1);
};

/// Follows one object by name: list, then watch from the list's version, with bookmarks. After 410
/// it lists again, and where bookmarks stop; after any other end it watches again from the last
/// version, with back-off while that fails. Its callbacks may destroy it.
class Watch {
public:
    struct Listener {
        /// The object has changed; null: there is none.
        std::function<void(const nlohmann::json& object)> on_object;
        /// The server has become reachable, or why not.
        std::function<void(const Answer<void>&)> on_change;
    };
    /// `collection`: "/api/v1/nodes", "/apis/.../namespaces/default/byohosts".
    Watch(Loop& loop, Api& api, Random random, std::string collection, std::string name,
          Listener listener, const WatchLimits& limits = {});
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();

    void start();
    /// With an object that a request has just returned, instead of a list.
    void start_after(const nlohmann::json& object);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace kubexm::kube
