#include "api/http/epoll_entry.hpp"

#include <sys/epoll.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace kubexm::http {

void ignore_in_event_loops(int fd) {
    epoll_event nothing{};
    std::error_code failed;
    for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd", failed)) {
        const std::string name = open.path().filename();
        int each = -1;
        std::from_chars(name.data(), name.data() + name.size(), each);
        // Fails for all that are no epoll, or one without this descriptor.
        ::epoll_ctl(each, EPOLL_CTL_MOD, fd, &nothing);
    }
}

}  // namespace kubexm::http
