#include "daemon/base/memory.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <tuple>

namespace kubexm {

namespace {

/// Only what the file itself still holds: in a writable segment, even where it was protected after
/// relocation, the pages are ours.
bool is_only_read(const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0;
}

void forget_pages(ElfW(Addr) base, const ElfW(Phdr) & segment) {
    const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
    const ElfW(Addr) begin = (base + segment.p_vaddr) & ~(page - 1);
    const ElfW(Addr) end = (base + segment.p_vaddr + segment.p_filesz + page - 1) & ~(page - 1);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader speaks in numbers
    auto* const first = reinterpret_cast<void*>(begin);
    std::ignore = ::madvise(first, end - begin, MADV_DONTNEED);  // a hint: refused is as before
}

int forget_object(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) noexcept {
    for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
        if (is_only_read(segment)) forget_pages(object->dlpi_addr, segment);
    }
    return 0;
}

}  // namespace

void trim_memory() {
    ::malloc_trim(0);
    ::dl_iterate_phdr(forget_object, nullptr);
}

}  // namespace kubexm
