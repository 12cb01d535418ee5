# SPDX-License-Identifier: BSD-3-Clause
# Language, warnings, sanitizers, places and the compiler cache: what every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree works in place: programs find their libraries at ../lib, as the installed ones do.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "folder of the libraries under the prefix")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
include(GNUInstallDirs)

set(SINEW_SANITIZE "" CACHE STRING "address | address,undefined | thread | empty")
# -g1 keeps the lines of backtraces, and little else.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
set(level -O2)
if(SINEW_SANITIZE)  # -O2 with the address sanitizer compiles twice as long
  set(level -O1)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${level} -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "${level} -g1")

option(SINEW_CHECKED "compile EXPECT, ASSERT and ENSURE in" OFF)
option(SINEW_CCACHE "compile through ccache if it is installed" ON)

if(SINEW_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SINEW_CCACHE_PROGRAM ccache)
  if(SINEW_CCACHE_PROGRAM)
    # Without this sloppiness ccache refuses whatever includes a precompiled header.
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${SINEW_CCACHE_PROGRAM})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  endif()
endif()

add_library(sinew_options INTERFACE)
target_compile_features(sinew_options INTERFACE cxx_std_20)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # As gcc, whose -Wconversion leaves signs out for C++.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-nested-anon-types>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
# Several sources as one see each other's names, which a local name may shadow: release looks.
if(CMAKE_UNITY_BUILD)
  list(REMOVE_ITEM warnings -Wshadow)
endif()
target_compile_options(sinew_options INTERFACE "$<BUILD_INTERFACE:${warnings}>")
target_include_directories(sinew_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# A program carries only the libraries it calls: hwloc would cost each start if it came unused.
target_link_options(sinew_options INTERFACE -Wl,--as-needed)
if(SINEW_CHECKED)
  target_compile_definitions(sinew_options INTERFACE SINEW_CHECKED)
  add_compile_definitions(SINEW_CHECKED)  # precompiled headers have it, so whatever includes those
endif()
# What UndefinedBehaviorSanitizer adds is half of the compiler's time. The sources of a unit test do
# without: its program has the property SINEW_NO_UBSAN.
if(SINEW_SANITIZE)
  set(sanitize -fsanitize=${SINEW_SANITIZE} -fno-omit-frame-pointer)
  if(SINEW_SANITIZE MATCHES "undefined")
    list(APPEND sanitize -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # a C program's functions have C's types for it
      list(APPEND sanitize -fno-sanitize=function)
    endif()
  endif()
  target_compile_options(sinew_options INTERFACE ${sanitize}
    $<$<BOOL:$<TARGET_PROPERTY:SINEW_NO_UBSAN>>:-fno-sanitize=undefined>)
  if(SINEW_SANITIZE MATCHES "address")
    target_compile_definitions(sinew_options INTERFACE SINEW_ASAN)
  elseif(SINEW_SANITIZE MATCHES "thread")
    target_compile_definitions(sinew_options INTERFACE SINEW_TSAN)
  endif()
  target_link_options(sinew_options INTERFACE -fsanitize=${SINEW_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # whose runtime is in the program, a C one too
    set(runtime -fsanitize=${SINEW_SANITIZE} -fsanitize-link-c++-runtime -lstdc++)
    add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${runtime}>")
  endif()
endif()

# An emulator, where one is needed. gcc 12's ThreadSanitizer cannot live with more than 28 bits of
# address randomisation.
set(SINEW_TEST_PREFIX ${CMAKE_CROSSCOMPILING_EMULATOR})
if(SINEW_SANITIZE STREQUAL "thread" AND EXISTS /proc/sys/vm/mmap_rnd_bits)
  file(READ /proc/sys/vm/mmap_rnd_bits random_bits)
  if(random_bits GREATER 28)
    set(SINEW_TEST_PREFIX setarch -R)
  endif()
endif()

# Two words that are stored one after the other and loaded as one vector: the load waits until all
# stores before have left the core, behind a store to a line that another core holds some 100 ns.
function(sinew_keep_words_apart target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-tree-slp-vectorize>)
endfunction()

# The hot path crosses modules: in a release the linkers of the bindings' libraries and of the
# measured programs see through them. The objects hold plain code too, and all else links that, in
# a tenth of the time: gcc, which alone can make both, takes the other unless told not to.
set(SINEW_LTO_MODULES fabric match core p2p)
set(lto_default OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT SINEW_SANITIZE AND NOT SINEW_CHECKED)
  set(lto_default ON)
endif()
option(SINEW_LTO "optimise the hot modules at link time" ${lto_default})
set(plain $<NOT:$<BOOL:$<TARGET_PROPERTY:SINEW_LINK_LTO>>>)
add_link_options($<$<AND:$<BOOL:${SINEW_LTO}>,${plain}>:-fno-lto>)
function(sinew_link_for_lto target)
  if(SINEW_LTO)
    set_target_properties(${target} PROPERTIES SINEW_LINK_LTO ON)
    # What it warns of is the standard library, seen through string's +.
    target_link_options(${target} PRIVATE -flto=auto -O2 -Wno-stringop-overflow)
  endif()
endfunction()
function(sinew_compile_for_lto target)
  if(SINEW_LTO)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-flto=auto>
      $<$<COMPILE_LANGUAGE:CXX>:-ffat-lto-objects>)
  endif()
endfunction()

find_package(Threads REQUIRED)
