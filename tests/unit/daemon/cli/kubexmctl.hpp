#pragma once

#include <stdio.h>
#include <sys/wait.h>

#include <string>

namespace kubexm::cli {

struct Outcome {
    std::string text;  // standard output and error
    int code = -1;
};

inline Outcome shell(const std::string& command) {
    Outcome outcome;
    FILE* output = ::popen(command.c_str(), "r");
    for (int c = ::fgetc(output); c != EOF; c = ::fgetc(output)) {
        outcome.text += static_cast<char>(c);
    }
    const int status = ::pclose(output);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

/// Runs the program to its end.
inline Outcome kubexmctl(const std::string& words) {
    return shell(std::string(KUBEXMCTL) + " " + words + " 2>&1");
}

}  // namespace kubexm::cli
