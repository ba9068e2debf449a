#include "daemon/base/unix_address.hpp"

#include <sys/socket.h>

namespace kubexm {

Result<sockaddr_un> unix_address(const std::string& path) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (!path.starts_with('/') || path.size() >= sizeof(address.sun_path)) {
        return fail(Code::invalid,
                    path + ": expected an absolute path of at most 107 bytes for a socket");
    }
    path.copy(address.sun_path, path.size());
    return address;
}

}  // namespace kubexm
