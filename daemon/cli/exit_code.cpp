#include "daemon/cli/exit_code.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kubexm::cli {

int exit_code_of(const Error& error) {
    switch (error.code) {
        case Code::invalid:
        case Code::not_found:
        case Code::conflict:
        case Code::denied:
        case Code::corrupt:
        case Code::cancelled:
        case Code::exhausted:  // a quota, a full queue or disk
            return kRefused;
        case Code::unavailable:
        case Code::timeout:
            return kUnreachable;
        case Code::internal:
            return kFailed;
    }
    return kFailed;
}

int refuse_input(const Error& error) {
    fmt::print(stderr, "kubexmctl: {}\n", error.what);
    return kUsage;
}

}  // namespace kubexm::cli
