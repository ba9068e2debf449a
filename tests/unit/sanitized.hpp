#pragma once

namespace kubexm {

/// A process under a sanitizer is slow, above all where it forks: of a long series of crashes,
/// tests take every n-th there. Without a sanitizer they take all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kEveryCrash = 7;
#else
inline constexpr int kEveryCrash = 1;
#endif

}  // namespace kubexm
