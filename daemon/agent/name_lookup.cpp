#include "daemon/agent/name_lookup.hpp"

#include <netdb.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <memory>
#include <thread>

#include "daemon/base/fd.hpp"

namespace kubexm::agent {

namespace {

/// Closed by the last of the two: the thread, which cannot be stopped, and the source in the loop.
using Signal = std::shared_ptr<const Fd>;

void wait_for_answer(const std::string& name, const Signal& answered) {
    addrinfo* found = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, nullptr, &found) == 0) ::freeaddrinfo(found);
    std::ignore = ::eventfd_write(answered->get(), 1);
}

struct Lookup : Loop::Source {
    Signal answered;
    Loop::Handle source;
};

}  // namespace

Result<Loop::Handle> look_up(Loop& loop, std::string name, std::function<void()> done) {
    auto lookup = std::make_unique<Lookup>();
    lookup->answered = std::make_shared<const Fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!*lookup->answered) return from_errno("make", "eventfd");
    auto source = loop.on_io(lookup->answered->get(), EPOLLIN,
                             [done = std::move(done), answered = lookup->answered](std::uint32_t) {
                                 eventfd_t count = 0;
                                 std::ignore = ::eventfd_read(answered->get(), &count);
                                 done();
                             });
    if (!source) return std::unexpected(source.error());
    lookup->source = *std::move(source);
    std::thread(wait_for_answer, std::move(name), lookup->answered).detach();
    return lookup;
}

}  // namespace kubexm::agent
