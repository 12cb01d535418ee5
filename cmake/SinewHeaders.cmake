# SPDX-License-Identifier: BSD-3-Clause
# Each public header must compile alone: one generated source per header, as an object library
# that the target `tests` builds, in the tree of AddressSanitizer. Whether it includes what it needs
# of the standard library, which is precompiled there, tests/tidy sees.
function(sinew_headers_alone)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/include/sinew/*.hpp)
  foreach(header IN LISTS headers)
    string(REPLACE "/" "_" name ${header})
    set(source ${PROJECT_BINARY_DIR}/headers_alone/${name}.cpp)
    # Twice: the second finds a header without its guard.
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(headers_alone OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(headers_alone PRIVATE sinew_options)
  set_target_properties(headers_alone PROPERTIES UNITY_BUILD OFF)
endfunction()
