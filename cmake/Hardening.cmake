# How what is shipped is built, so that an overflow ends the process instead of being used. scripts/hardening looks whether a program has it.
# CET, on aarch64 BTI and PAC, is compiled in; a kernel enforces it only for programs all of whose parts have it, and Debian 12's startup files do not.
set(GW_HARDENING_COMPILE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  list(APPEND GW_HARDENING_COMPILE -mbranch-protection=standard)
else()
  list(APPEND GW_HARDENING_COMPILE -fcf-protection=full)
endif()
set(GW_HARDENING_LINK -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
option(GW_HARDEN "release builds are hardened; off to measure what that costs" ON)
if(GW_HARDEN AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(${GW_HARDENING_COMPILE})
  add_link_options(${GW_HARDENING_LINK})
endif()
