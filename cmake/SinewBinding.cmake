# SPDX-License-Identifier: BSD-3-Clause
# A C binding with a library of its own beside libsinew.so: abi/<name>, include/c/sinew_<name>.h,
# libsinew_<name>.so.

# sinew_c_binding(name SOURCES ... MODULES ...): called in the binding's folder, which holds its
# exports.map. MODULES are what it links, in the order in which they need each other.
function(sinew_c_binding name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;MODULES")
  set(target sinew_${name}_shared)
  add_library(${target} SHARED ${arg_SOURCES} $<TARGET_OBJECTS:sinew_own_calls>)
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET default OUTPUT_NAME sinew_${name} SOVERSION 0 VERSION 0
    INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON EXPORT_NAME ${name}_shared
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}
    INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # libsinew.so first: what it has of base and fiber must not be linked in a second time
  # (decision 5).
  target_link_libraries(${target} PRIVATE sinew_options sinew_shared ${arg_MODULES} sinew_base
    INTERFACE sinew_shared)
  target_compile_options(${target} PRIVATE -ftls-model=initial-exec -Wmissing-declarations)
  sinew_link_for_lto(${target})
  target_link_options(${target} PRIVATE LINKER:--gc-sections
    LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  install(TARGETS ${target} EXPORT SinewTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

  set(header ${PROJECT_SOURCE_DIR}/include/c/sinew_${name}.h)
  file(RELATIVE_PATH from_link ${PROJECT_BINARY_DIR}/include ${header})
  file(CREATE_LINK ${from_link} ${PROJECT_BINARY_DIR}/include/sinew_${name}.h SYMBOLIC)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()
