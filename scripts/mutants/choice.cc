// Linked into every program that holds mutants: reads which of them is wanted, and says which were reached.
#include <cstdio>
#include <cstdlib>

namespace gw_mutants {

extern const int chosen;
const int chosen = [] {
  const char* const text = std::getenv("GW_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();
extern unsigned char reached[1 << 16];
unsigned char reached[1 << 16];

namespace {
struct Report {
  ~Report() {
    const char* const path = std::getenv("GW_MUTANTS_REACHED");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    for (int i = 0; i < 1 << 16; ++i) {
      if (reached[i] != 0) std::fprintf(file, "%d\n", i);
    }
    std::fclose(file);
  }
} report;
}  // namespace

}  // namespace gw_mutants
