# One target per folder; its link line is the include rule.
#
# A target can include only its own headers and those of the targets it links: each target's
# headers are linked one by one into a folder of its own under the build tree, and only that
# folder is on the include path of those who link it.

set(GW_INCLUDE_ROOT ${CMAKE_BINARY_DIR}/include)

# Headers of the standard library, Abseil and GoogleTest, compiled once a build tree.
add_library(gangway_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch/empty.cc)
target_link_libraries(gangway_pch PRIVATE gangway_options absl::status absl::statusor absl::strings absl::time absl::any_invocable
  absl::btree absl::flat_hash_map)
target_precompile_headers(gangway_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch/library.h)

# What tests are made of is compiled without optimising and, where there is one, by clang: a test waits for what it tests, and its own sources cost two thirds of a
# build otherwise. Production is compiled by g++, as it is shipped; the two go into one program.
set(GW_TEST_FLAGS -O0 -g0 CACHE STRING "what the sources of tests are compiled with beside the build type's flags")
set(GW_TEST_LAUNCHER "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  find_program(GW_TEST_COMPILER clang++-19)
  if(GW_TEST_COMPILER)
    set(GW_TEST_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile_test ${GW_TEST_COMPILER})
  endif()
endif()
function(gw_compile_as_test target)
  target_compile_options(${target} PRIVATE ${GW_TEST_FLAGS})
  if(GW_TEST_LAUNCHER)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${GW_TEST_LAUNCHER}")
  endif()
endfunction()

if(GW_BUILD_TESTS)
  add_library(gangway_tests_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch/empty.cc)
  target_include_directories(gangway_tests_pch PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(gangway_tests_pch PRIVATE gangway_options absl::status absl::statusor absl::strings absl::time absl::any_invocable
    absl::btree absl::flat_hash_map GTest::gmock)
  gw_compile_as_test(gangway_tests_pch)
  target_precompile_headers(gangway_tests_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch/test.h)
endif()

function(gw_stage_headers target folder)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(stage ${GW_INCLUDE_ROOT}/${target})
  file(REMOVE_RECURSE ${stage})
  file(MAKE_DIRECTORY ${stage}/${folder})
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${stage}/${folder}/${name} SYMBOLIC)
  endforeach()
endfunction()

# Sources of one target are compiled together, so many at once: half of what they cost one by one is reading the same headers. So what a source keeps to
# itself, in the namespace without a name, has a name that no other of its target has. 1 is one by one.
set(GW_BATCH 6 CACHE STRING "how many sources are compiled at once")

function(gw_join_sources target)
  if(GW_BATCH GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${GW_BATCH})
    # What is behind an Impl may use what a source keeps to itself; g++ takes the source for a header.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gw_library(NAME gang SRCS place.cc DEPS gangway::model PRIVATE_DEPS simdjson::simdjson)
# DEPS are what the headers include, PRIVATE_DEPS what only the sources do.
function(gw_library)
  cmake_parse_arguments(A "" "NAME" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(target gangway_${A_NAME})
  gw_stage_headers(${target} ${folder})
  if(A_SRCS)
    add_library(${target} STATIC ${A_SRCS})
    target_include_directories(${target} PUBLIC ${GW_INCLUDE_ROOT}/${target})
    target_link_libraries(${target} PUBLIC ${A_DEPS} PRIVATE gangway_options ${A_PRIVATE_DEPS})
    target_precompile_headers(${target} REUSE_FROM gangway_pch)
    if(NOT folder MATCHES "^tests/")  # where two tell of different things in the same words
      gw_join_sources(${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${GW_INCLUDE_ROOT}/${target})
    target_link_libraries(${target} INTERFACE ${A_DEPS})
  endif()
  add_library(gangway::${A_NAME} ALIAS ${target})
  list(JOIN A_SRCS " " sources)
  list(JOIN A_DEPS " " links)
  set_property(GLOBAL APPEND PROPERTY GW_LIBRARIES_TABLE "${target}\t${folder}\t${sources}\t${links}")
endfunction()

# What a test program ends with when every one of its tests was skipped (tests/testing/test_main.cc); scripts that are tests do the same.
set(GW_ALL_SKIPPED 77)

# What scripts/run-tests cannot know of a test from its program: that it reads sources or runs scripts that do, or that it draws other cases each time.
set(GW_READS_SOURCES "GW_SOURCE_DIR[^;]*\"/?(scripts|api|assembly|base|cmake|cmd|kube|plugin|sandbox|translator)[/\"]|^[^#]*\"\\.(cc|h)\"")
set(GW_DRAWS "random_device|rapidcheck")
function(gw_habits result)  # SRCS
  set(habits "")
  foreach(source ${ARGN})
    get_filename_component(source "${source}" ABSOLUTE)
    if(EXISTS "${source}")
      file(STRINGS "${source}" lines REGEX "${GW_READS_SOURCES}")
      string(COMPARE NOTEQUAL "${lines}" "" reads)
      file(STRINGS "${source}" lines REGEX "${GW_DRAWS}")
      string(COMPARE NOTEQUAL "${lines}" "" draws)
      foreach(habit reads draws)
        if(${habit})
          list(APPEND habits ${habit})
        endif()
      endforeach()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES habits)
  list(JOIN habits "," habits)
  set(${result} "${habits}" PARENT_SCOPE)
endfunction()

# gw_test(NAME place_test SRCS place_test.cc DEPS gangway::gang [LABELS asan tsan] [TIMEOUT 60] [DEFINES A="b"] [ALONE] [OPTIMIZED])
# The test NAME, which runs what is in SRCS. LABELS name the sanitizer presets in which `make test` also runs it. The tests of a folder are one program, some sources
# compiled at once (cmake/join_tests), which costs a sixth of what one by one does; each NAME is a link to it, under which it runs its own sources alone
# (tests/testing/test_main.cc). ALONE is a program of its own; so is OPTIMIZED, compiled as production is: for tests that draw and check a great many cases.
set(GW_TEST_BATCH 16 CACHE STRING "how many test sources are compiled at once")
function(gw_test)
  cmake_parse_arguments(A "ALONE;OPTIMIZED" "NAME;TIMEOUT" "SRCS;DEPS;LABELS;DEFINES" ${ARGN})
  if(NOT GW_BUILD_TESTS)
    return()
  endif()
  if(GW_ONLY_LABEL AND NOT GW_ONLY_LABEL IN_LIST A_LABELS)
    return()
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${A_NAME})
  gw_habits(habits ${A_SRCS})
  if(A_ALONE OR A_OPTIMIZED)
    gw_test_program(${A_NAME} "" "${A_SRCS}" "${A_DEPS}" "${A_DEFINES}" ${A_OPTIMIZED})
  else()
    get_property(begun DIRECTORY PROPERTY GW_TEST_NAMES)
    if(NOT begun)
      cmake_language(DEFER CALL gw_tests_of_folder)
    endif()
    add_custom_target(${A_NAME})
    set_property(DIRECTORY APPEND PROPERTY GW_TEST_NAMES ${A_NAME})
    foreach(list SRCS DEPS DEFINES)
      set_property(DIRECTORY APPEND PROPERTY GW_TEST_${list} ${A_${list}})
    endforeach()
    list(TRANSFORM A_SRCS REPLACE ".*/" "")
    list(JOIN A_SRCS " " sources)
    set_property(DIRECTORY APPEND PROPERTY GW_TEST_TABLE "${A_NAME} ${sources}")
  endif()
  add_test(NAME ${A_NAME} COMMAND ${program})
  set_tests_properties(${A_NAME} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}" SKIP_RETURN_CODE ${GW_ALL_SKIPPED})
  set_property(GLOBAL APPEND PROPERTY GW_TESTS ${A_NAME})
  set_property(GLOBAL APPEND PROPERTY GW_TESTS_PROGRAMS ${program})
  set_property(GLOBAL APPEND PROPERTY GW_TESTS_TABLE "${A_NAME}\t${program}\t${habits}")
endfunction()

function(gw_test_program name table sources deps defines)  # and whether it is optimized
  set(names ${CMAKE_CURRENT_BINARY_DIR}/${name}_names.cc)
  list(JOIN table "\\n" lines)
  file(CONFIGURE OUTPUT ${names} CONTENT "namespace gangway::testutil {
extern const char* const kTestNames;
const char* const kTestNames = \"${lines}\";
}  // namespace gangway::testutil
")
  set_source_files_properties(${names} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  add_executable(${name} ${sources} ${names})
  target_link_libraries(${name} PRIVATE gangway_options ${deps} gangway_test_main)
  target_compile_definitions(${name} PRIVATE GW_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${defines})
  if(ARGN)
    return()
  endif()
  gw_compile_as_test(${name})
  target_precompile_headers(${name} REUSE_FROM gangway_tests_pch)
endfunction()

# Of the folder that is being read: the program, and a link to it for each of its tests.
function(gw_tests_of_folder)
  foreach(list NAMES SRCS DEPS DEFINES TABLE)
    get_property(${list} DIRECTORY PROPERTY GW_TEST_${list})
  endforeach()
  list(REMOVE_DUPLICATES SRCS)
  list(REMOVE_DUPLICATES DEPS)
  list(REMOVE_DUPLICATES DEFINES)
  set(joined ${SRCS})
  list(FILTER joined INCLUDE REGEX "_test\\.cc$")
  set(compiled ${SRCS})
  list(REMOVE_ITEM compiled ${joined})
  list(TRANSFORM joined PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(LENGTH joined left)
  math(EXPR count "(${left} + ${GW_TEST_BATCH} - 1) / ${GW_TEST_BATCH}")
  while(count GREATER 0)
    math(EXPR size "(${left} + ${count} - 1) / ${count}")
    list(SUBLIST joined 0 ${size} batch)
    list(REMOVE_ITEM joined ${batch})
    set(out ${CMAKE_CURRENT_BINARY_DIR}/joined_${count}.cc)
    add_custom_command(OUTPUT ${out} COMMAND ${PROJECT_SOURCE_DIR}/cmake/join_tests ${out} ${batch}
      DEPENDS ${batch} ${PROJECT_SOURCE_DIR}/cmake/join_tests VERBATIM)
    list(APPEND compiled ${out})
    math(EXPR left "${left} - ${size}")
    math(EXPR count "${count} - 1")
  endwhile()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" program ${folder})
  gw_test_program(${program} "${TABLE}" "${compiled}" "${DEPS}" "${DEFINES}")
  foreach(name ${NAMES})
    add_custom_command(TARGET ${program} POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink ${program} ${CMAKE_CURRENT_BINARY_DIR}/${name} VERBATIM)
    add_dependencies(${name} ${program})
  endforeach()
endfunction()

# gw_fuzz(NAME manifest_fuzz SRCS manifest_fuzz.cc ROUNDS 2000 DEPS gangway::fuzz_target CORPUS examples a.yaml+b.yaml)
# The test manifest_fuzz_test, which tests/fuzz/driver.cc runs over the corpus and ROUNDS times over damage to it, under the address sanitizer; with
# GW_FUZZ the program manifest_fuzz of libFuzzer; without ROUNDS only that. The corpus is what is in tests/fuzz/corpus/manifest_fuzz, and CORPUS: files, folders of manifests,
# files joined as documents of one input; from the project's root.
function(gw_fuzz)
  cmake_parse_arguments(A "" "NAME;ROUNDS" "SRCS;DEPS;CORPUS" ${ARGN})
  set(own tests/fuzz/corpus/${A_NAME}/)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${own})
    list(APPEND A_CORPUS ${own})
  endif()
  list(JOIN A_CORPUS ":" corpus)
  if(GW_FUZZ)
    add_executable(${A_NAME} ${A_SRCS})
    target_link_libraries(${A_NAME} PRIVATE gangway_options ${A_DEPS})
    target_link_options(${A_NAME} PRIVATE -fsanitize=fuzzer)
    file(CONFIGURE OUTPUT ${A_NAME}.corpus CONTENT "${corpus}\n")  # for scripts/fuzz
    set_property(GLOBAL APPEND PROPERTY GW_FUZZERS ${A_NAME})
  elseif(TARGET gangway_fuzz_driver AND A_ROUNDS)
    set(about ${CMAKE_CURRENT_BINARY_DIR}/${A_NAME}_about.cc)
    file(CONFIGURE OUTPUT ${about} CONTENT "#include <cstdint>
namespace gangway::testutil {
extern const char* const kFuzzCorpus;
extern const std::uint64_t kFuzzRounds;
const char* const kFuzzCorpus = \"${corpus}\";
const std::uint64_t kFuzzRounds = ${A_ROUNDS};
}  // namespace gangway::testutil
")
    set_source_files_properties(${about} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    gw_test(ALONE NAME ${A_NAME}_test SRCS ${A_SRCS} ${about} $<TARGET_OBJECTS:gangway_fuzz_driver> LABELS asan TIMEOUT 300 DEPS ${A_DEPS} gangway::testutil)
  endif()
endfunction()

# The targets gw_tests, gw_benches and gw_fuzzers: all that were registered, and nothing they do not need. gw_tests.list names their programs;
# gw_tests.table has of each test its name, its program and its habits, for scripts/run-tests; gw_libraries.table of each library its folder, sources and
# public links, for scripts/public-includes.
function(gw_collect)
  foreach(kind tests benches fuzzers)
    string(TOUPPER ${kind} property)
    get_property(names GLOBAL PROPERTY GW_${property})
    add_custom_target(gw_${kind})
    if(names)
      add_dependencies(gw_${kind} ${names})
    endif()
    get_property(programs GLOBAL PROPERTY GW_${property}_PROGRAMS)
    if(NOT programs)
      list(TRANSFORM names REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE programs)
    endif()
    list(JOIN programs "\n" programs)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/gw_${kind}.list CONTENT "${programs}\n")
  endforeach()
  foreach(table tests libraries)
    string(TOUPPER ${table} property)
    get_property(rows GLOBAL PROPERTY GW_${property}_TABLE)
    list(JOIN rows "\n" rows)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/gw_${table}.table CONTENT "${rows}\n" @ONLY)
  endforeach()
endfunction()

# gw_bench(NAME place_bench SRCS place_bench.cc DEPS gangway::gang)
function(gw_bench)
  cmake_parse_arguments(A "" "NAME" "SRCS;DEPS" ${ARGN})
  if(NOT GW_BUILD_BENCHES)
    return()
  endif()
  add_executable(${A_NAME} ${A_SRCS})
  target_link_libraries(${A_NAME} PRIVATE gangway_options ${A_DEPS} benchmark::benchmark_main)
  target_compile_definitions(${A_NAME} PRIVATE GW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_property(GLOBAL APPEND PROPERTY GW_BENCHES ${A_NAME})
endfunction()
