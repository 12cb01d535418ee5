# SPDX-License-Identifier: BSD-3-Clause
# A third of the compiler's time for a source of ours goes into the standard library's headers. With
# SINEW_PRECOMPILE, as in the presets, they are compiled once for all libraries, and once for all
# programs, whose code is made otherwise. tests/tidy finds the #include that is missing.
option(SINEW_PRECOMPILE "compile the standard library's headers once for all sources" OFF)

set(SINEW_STANDARD_HEADERS
  <algorithm> <array> <atomic> <bit> <cerrno> <chrono> <cstdint> <cstdio> <cstdlib> <cstring>
  <deque> <exception> <functional> <map> <memory> <mutex> <optional> <set> <span> <string>
  <string_view> <thread> <unordered_map> <utility> <vector>)
list(TRANSFORM SINEW_STANDARD_HEADERS REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")

# For gcc: ccache sees through the precompiled headers; and the optimizer's warnings about what is
# inlined from them are off, which it otherwise hides as those of system headers (gcc 12 has false
# ones in std::string's operator+). A build without SINEW_PRECOMPILE has them on.
function(sinew_sees_through target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess
      -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
  endif()
endfunction()

# sinew_precompile_all(): every target that has no precompiled header of its own. A source with
# options of its own says SKIP_PRECOMPILE_HEADERS.
function(sinew_precompile_all)
  if(NOT SINEW_PRECOMPILE)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/standard_headers.cpp CONTENT "int main() {}\n")
  add_library(standard_headers_of_libraries STATIC ${PROJECT_BINARY_DIR}/standard_headers.cpp)
  add_executable(standard_headers_of_programs ${PROJECT_BINARY_DIR}/standard_headers.cpp)
  set_target_properties(standard_headers_of_programs PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  foreach(kind libraries programs)
    set(target standard_headers_of_${kind})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    target_link_libraries(${target} PRIVATE sinew_options Threads::Threads)
    target_precompile_headers(${target} PRIVATE ${SINEW_STANDARD_HEADERS})
    sinew_sees_through(${target})
  endforeach()
  sinew_precompile_below(${PROJECT_SOURCE_DIR})
endfunction()

function(sinew_precompile_below folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(own ${target} PRECOMPILE_HEADERS)
    get_target_property(others ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    get_target_property(sources ${target} SOURCES)
    get_target_property(without ${target} DISABLE_PRECOMPILE_HEADERS)
    if(own OR others OR without OR NOT sources MATCHES "\\.cpp")
      continue()
    endif()
    if(type STREQUAL "EXECUTABLE")
      target_precompile_headers(${target} REUSE_FROM standard_headers_of_programs)
      sinew_sees_through(${target})
    elseif(type MATCHES "^(STATIC|SHARED|MODULE|OBJECT)_LIBRARY$")
      target_precompile_headers(${target} REUSE_FROM standard_headers_of_libraries)
      sinew_sees_through(${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    sinew_precompile_below(${below})
  endforeach()
endfunction()
