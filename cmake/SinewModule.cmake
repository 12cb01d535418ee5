# SPDX-License-Identifier: BSD-3-Clause
# sinew_module(<name> [LINKS <targets...>] [PLUGINS <folders...>]): the folder src/<name> as a
# static library sinew_<name>, without the folders that become plugins of their own, and its tests
# tests/<name>/*_test.cpp as one program. What a module uses stands in
# layers.txt: what is not named there cannot be linked.
find_package(GTest QUIET)

# Tests are compiled once and run once: most of a compiler's time for them is the optimiser's.
set(SINEW_TEST_LEVEL -O1)
if(SINEW_SANITIZE)
  set(SINEW_TEST_LEVEL -O0)
endif()
# Tests are as short there as under a sanitizer.
set(emulated $<$<BOOL:${CMAKE_CROSSCOMPILING}>:SINEW_EMULATED>)

# GoogleTest's header is compiled once for all test programs: by this one, which does nothing. A
# program and not a library, since the two are compiled with different options.
if(BUILD_TESTING AND GTest_FOUND)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gtest_header.cpp CONTENT "int main() {}\n")
  add_executable(gtest_header EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/gtest_header.cpp)
  target_link_libraries(gtest_header PRIVATE sinew_options Threads::Threads GTest::gtest)
  target_compile_options(gtest_header PRIVATE ${SINEW_TEST_LEVEL})
  target_compile_definitions(gtest_header PRIVATE ${emulated})
  target_precompile_headers(gtest_header PRIVATE <gtest/gtest.h>)
  if(SINEW_PRECOMPILE)
    target_precompile_headers(gtest_header PRIVATE ${SINEW_STANDARD_HEADERS})
  endif()
  set_target_properties(gtest_header PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  sinew_sees_through(gtest_header)
endif()

# The folders under tests/ to build and run; empty means all. The sanitizers' presets set it.
set(SINEW_TEST_FOLDERS "" CACHE STRING "folders of unit tests to build, separated by ';'")

# The modules of layers.txt in its order, and for each SINEW_USES_<name>.
set(SINEW_LAYERS_FILE ${CMAKE_CURRENT_LIST_DIR}/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SINEW_LAYERS_FILE})
file(STRINGS ${SINEW_LAYERS_FILE} layers REGEX "^[0-9]")
set(SINEW_ALL_MODULES "")
foreach(line IN LISTS layers)
  string(REGEX MATCH "^[0-9]+ ([a-z0-9_]+):(.*)$" matched "${line}")
  set(module ${CMAKE_MATCH_1})
  separate_arguments(SINEW_USES_${module} UNIX_COMMAND "${CMAKE_MATCH_2}")
  list(APPEND SINEW_ALL_MODULES ${module})
endforeach()

function(sinew_module name)
  cmake_parse_arguments(MODULE "" "" "LINKS;PLUGINS" ${ARGN})
  set(MODULE_USES ${SINEW_USES_${name}})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.S)
  foreach(plugin IN LISTS MODULE_PLUGINS)
    list(FILTER sources EXCLUDE REGEX "/src/${name}/${plugin}/")
  endforeach()
  list(TRANSFORM MODULE_USES PREPEND sinew_)
  if(NOT sources)  # a module of headers only
    add_library(sinew_${name} INTERFACE)
    target_link_libraries(sinew_${name} INTERFACE sinew_options Threads::Threads ${MODULE_USES})
  else()
    add_library(sinew_${name} STATIC ${sources})
    target_link_libraries(sinew_${name}
      PUBLIC sinew_options Threads::Threads ${MODULE_USES} PRIVATE ${MODULE_LINKS})
    if(name IN_LIST SINEW_LTO_MODULES)
      sinew_compile_for_lto(sinew_${name})
    endif()
    sinew_tests(${name} sinew_${name})
  endif()
  set_target_properties(sinew_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY SINEW_MODULES sinew_${name})
  set_property(GLOBAL PROPERTY SINEW_USES_${name} ${MODULE_USES})
endfunction()

# sinew_share_module(<name>): this module goes into libsinew.so, of which all our libraries in a
# process use the one copy; so its functions are visible from there, but not replaceable.
function(sinew_share_module name)
  set_target_properties(sinew_${name} PROPERTIES CXX_VISIBILITY_PRESET default)
  target_compile_options(sinew_${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
endfunction()

# What a sanitizer's tree, or an emulator, leaves to the release tree.
function(sinew_tests_left_out folder variable)
  set(${variable} "" PARENT_SCOPE)
  if(SINEW_SANITIZE MATCHES "thread")
    # It sees threads of one process. Ranks that are processes, and failures of allocations (see
    # tests/support/allocations.hpp), are for the other trees.
    set(${variable} *processes* *MayFail* *may_fail* *every_failure* *exhaustion* *allocations*
      *is_counted* *a_merge_that_fails* *that_lacks_memory* PARENT_SCOPE)
  elseif((SINEW_SANITIZE OR CMAKE_CROSSCOMPILING) AND folder STREQUAL "route")
    # How good large plans are: minutes here, and the code of the small ones.
    set(${variable} *_512_* plan.never_worse* plan.indirect_networks best_plan.never_above*
      best_plan.not_predicted* baselines.are_as_strong* small_messages.every_size* PARENT_SCOPE)
  elseif(SINEW_SANITIZE AND folder STREQUAL "bench")
    # How often estimates hold the truth: thousands of samples through the same code.
    set(${variable} ratios.*unequal* ratios.equal_subjects* estimates.hold* PARENT_SCOPE)
  endif()
endfunction()

# sinew_tests(<folder under tests> <targets...>): one GoogleTest program test_<folder>, one ctest
# entry of that name, labelled `unit` (or `stress` for folders under tests/stress).
function(sinew_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  if(NOT BUILD_TESTING OR NOT GTest_FOUND OR NOT sources)
    return()
  endif()
  if(SINEW_TEST_FOLDERS AND NOT folder IN_LIST SINEW_TEST_FOLDERS)
    return()
  endif()
  string(REPLACE "/" "_" program test_${folder})
  add_executable(${program} EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${program} PRIVATE ${ARGN} GTest::gtest_main)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${program} PRIVATE ${emulated})
  if(SINEW_SANITIZE AND folder MATCHES "^(match|coll)$")  # which compute much themselves
    target_compile_options(${program} PRIVATE -O1)
    target_precompile_headers(${program} PRIVATE <gtest/gtest.h> ${SINEW_STANDARD_HEADERS})
  else()
    target_compile_options(${program} PRIVATE ${SINEW_TEST_LEVEL})
    target_precompile_headers(${program} REUSE_FROM gtest_header)
  endif()
  sinew_sees_through(${program})
  if(NOT folder STREQUAL "match")  # whose code lies in its headers
    set_target_properties(${program} PROPERTIES SINEW_NO_UBSAN ON)
  endif()
  if(folder MATCHES "^(match|event|region)$")  # whose sources use the same names in their own ways
    set_target_properties(${program} PROPERTIES UNITY_BUILD OFF)
  endif()
  add_test(NAME ${folder} COMMAND ${SINEW_TEST_PREFIX} $<TARGET_FILE:${program}>)
  set(label unit)
  if(folder MATCHES "^stress")
    set(label stress)
  endif()
  set(timeout 300)
  if(SINEW_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(timeout 1200)
  endif()
  set_tests_properties(${folder} PROPERTIES TIMEOUT ${timeout} LABELS ${label})
  if(folder MATCHES "^(fabric|rma)$")  # ranks that look for messages: beside others thrice as long
    set_tests_properties(${folder} PROPERTIES PROCESSORS 2)
  endif()
  sinew_tests_left_out(${folder} left_out)
  if(left_out)
    string(JOIN ":" left_out ${left_out})
    set_tests_properties(${folder} PROPERTIES ENVIRONMENT "GTEST_FILTER=-${left_out}")
  endif()
  set_property(GLOBAL APPEND PROPERTY SINEW_TEST_PROGRAMS ${program})
endfunction()
