#include "daemon/base/error.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace kubexm {

Code code_of_errno(int number) {
    switch (number) {
        case ENOENT:
        case ENOTDIR:
        case ESRCH:
        case ENODEV:
            return Code::not_found;
        case EACCES:
        case EPERM:
        case EROFS:
        case EOPNOTSUPP:
        case ELOOP:  // a forbidden symbolic link
            return Code::denied;
        case EEXIST:
        case EBUSY:
        case EISDIR:
        case ENOTEMPTY:
            return Code::conflict;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case ENOMEM:
        case EMFILE:
        case ENFILE:
            return Code::exhausted;
        case EINVAL:
        case ENAMETOOLONG:
            return Code::invalid;
        case ETIMEDOUT:
            return Code::timeout;
        case ECONNREFUSED:
        case ECONNRESET:
        case ENOTCONN:
        case EPIPE:
        case EAGAIN:
        case EIO:
            return Code::unavailable;
        case ECANCELED:
            return Code::cancelled;
        default:
            return Code::internal;
    }
}

std::unexpected<Error> fail(Code code, std::string what) {
    return std::unexpected(Error{code, std::move(what)});
}

std::unexpected<Error> during(std::string_view doing, const Error& error) {
    return fail(error.code, std::string(doing) + ": " + error.what);
}

std::unexpected<Error> from_errno(std::string_view call, std::string_view object, int number) {
    // Not strerror(): independent of locale and thread state.
    return fail(code_of_errno(number), std::string(call) + " " + std::string(object) + ": " +
                                           std::generic_category().message(number));
}

std::unexpected<Error> from_errno(std::string_view call, std::string_view object) {
    return from_errno(call, object, errno);
}

}  // namespace kubexm
