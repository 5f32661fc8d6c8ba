#include "cmd/process/start_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gangway::cmd {
namespace {

// Code, constants and what the loader read of symbols are mapped from files and nobody writes to them, so that what is
// dropped is found there again. What the loader did write to is in parts that may be written to.
void DropWhatIsInFiles(const dl_phdr_info& object) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  // A copy: the list lies in one of its parts, and to read on there would bring that one back.
  const std::vector<ElfW(Phdr)> parts(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum);
  for (const auto& part : parts) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object.dlpi_addr + part.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = object.dlpi_addr + part.p_vaddr + part.p_filesz;
    // Refused where memory is locked, which is as good.
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
  }
}

}  // namespace

void GiveBackStartMemory() {
  malloc_trim(0);
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void*) {
        const bool of_the_kernel = object->dlpi_addr == getauxval(AT_SYSINFO_EHDR);  // no file
        if (!of_the_kernel) DropWhatIsInFiles(*object);
        return 0;
      },
      nullptr);
}

}  // namespace gangway::cmd
