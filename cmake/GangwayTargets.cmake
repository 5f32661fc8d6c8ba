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
if(GW_BUILD_TESTS)
  add_library(gangway_test_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch/empty.cc)
  target_include_directories(gangway_test_pch PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(gangway_test_pch PRIVATE gangway_options absl::status absl::statusor absl::strings absl::time absl::any_invocable
    absl::btree absl::flat_hash_map GTest::gmock)
  target_precompile_headers(gangway_test_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch/test.h)
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
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${GW_INCLUDE_ROOT}/${target})
    target_link_libraries(${target} INTERFACE ${A_DEPS})
  endif()
  add_library(gangway::${A_NAME} ALIAS ${target})
endfunction()

# gw_test(NAME place_test SRCS place_test.cc DEPS gangway::gang [LABELS asan tsan] [TIMEOUT 60])
# LABELS name the sanitizer presets in which `make test` also runs it.
function(gw_test)
  cmake_parse_arguments(A "" "NAME;TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT GW_BUILD_TESTS)
    return()
  endif()
  if(GW_ONLY_LABEL AND NOT GW_ONLY_LABEL IN_LIST A_LABELS)
    return()
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  add_executable(${A_NAME} ${A_SRCS})
  target_link_libraries(${A_NAME} PRIVATE gangway_options ${A_DEPS} GTest::gmock_main)
  target_precompile_headers(${A_NAME} REUSE_FROM gangway_test_pch)
  target_compile_definitions(${A_NAME} PRIVATE GW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${A_NAME} COMMAND ${A_NAME})
  set_tests_properties(${A_NAME} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}")
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
