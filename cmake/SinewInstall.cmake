# SPDX-License-Identifier: BSD-3-Clause
# What `make install` copies, and how other builds find it: a CMake package and pkg-config files.
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY SINEW_MODULES)
# Programs of these libraries load the network's plugin from the folder that the libraries lie in.
target_link_options(sinew_fabric INTERFACE
  $<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>)
install(TARGETS sinew_options ${modules} EXPORT SinewTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(SINEW_LTO)  # what LTO reads, only the compiler that wrote it can: not for others' programs
  set(folder "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
  install(CODE "file(GLOB archives \"${folder}/libsinew_*.a\")
    foreach(archive IN LISTS archives)
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" -R .gnu.lto_* -R .gnu.debuglto_* \${archive}
        COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
endif()
install(EXPORT SinewTargets NAMESPACE Sinew::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sinew)
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/SinewConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SinewConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sinew)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SinewConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SinewConfig.cmake ${PROJECT_BINARY_DIR}/SinewConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sinew)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The pages, with the paths that their links have in the source tree, and the examples with a build
# of their own.
foreach(page LICENSE README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md)
  install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN CMakeLists.txt EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/examples.cmake
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples RENAME CMakeLists.txt)
file(RELATIVE_PATH from_link /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_INCLUDEDIR})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/packaging/doc)
file(CREATE_LINK ${from_link} ${PROJECT_BINARY_DIR}/packaging/doc/include SYMBOLIC)
install(DIRECTORY ${PROJECT_BINARY_DIR}/packaging/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET sinew)
  if(NOT SINEW_LAUNCHER)
    install(TARGETS sinew RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

# sinew_pkg_config(<name> <description> <libraries> [<requires>]): <name>.pc in build/lib/pkgconfig,
# which works in place, and in the installed tree.
function(sinew_pkg_config name description libraries)
  set(requires "${ARGN}")
  set(include_folder include)
  set(lib_folder lib)
  set(prefix_from_here ../..)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/sinew.pc.in
    ${PROJECT_BINARY_DIR}/lib/pkgconfig/${name}.pc @ONLY)
  set(include_folder ${CMAKE_INSTALL_INCLUDEDIR})
  set(lib_folder ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH prefix_from_here /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/sinew.pc.in
    ${PROJECT_BINARY_DIR}/packaging/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/packaging/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

if(TARGET sinew_shared)
  sinew_pkg_config(sinew "Fibers for C and C++ programs, alone or with MPI on Sinew"
    "-lsinew -Wl,-rpath,\${libdir}")
endif()
if(TARGET mpi_abi)
  sinew_pkg_config(sinew-mpi "MPI programs on Sinew, by the MPI-5.0 standard ABI"
    "-lmpi_abi -Wl,-rpath,\${libdir}")
  if(TARGET mpifort_abi)
    sinew_pkg_config(sinew-mpi-fortran "MPI programs in Fortran on Sinew"
      "-lmpifort_abi -lmpi_abi -I\${includedir}/mpi-fortran -Wl,-rpath,\${libdir}")
  endif()
endif()
if(TARGET sinew_route_shared)
  sinew_pkg_config(sinew-route-c "Transfers over many paths on Sinew, for C"
    "-lsinew_route -lsinew -Wl,-rpath,\${libdir}")
endif()
if(TARGET sinew_job_shared)
  sinew_pkg_config(sinew-job-c "Events, tasks and data of all ranks on Sinew, for C"
    "-lsinew_job -lsinew -Wl,-rpath,\${libdir}")
endif()

# sinew_module_pkg_config(<module> <description>): the module and all below it, as static libraries,
# each before those that it uses. By file names, since a shared library may have the same name.
function(sinew_module_pkg_config name description)
  if(NOT TARGET sinew_${name})
    return()
  endif()
  set(needed sinew_${name})
  set(libraries "")
  set(requires "hwloc >= 2.3")
  list(REVERSE modules)  # the highest first, so all users of a module come before it
  foreach(module IN LISTS modules)
    if(NOT module IN_LIST needed)
      continue()
    endif()
    string(REPLACE "sinew_" "" short ${module})
    get_property(uses GLOBAL PROPERTY SINEW_USES_${short})
    list(APPEND needed ${uses})
    if(short STREQUAL "formats")
      string(APPEND requires ", expat")
    endif()
    get_target_property(type ${module} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      string(APPEND libraries "-l:lib${module}.a ")
    endif()
  endforeach()
  sinew_pkg_config(sinew-${name} "${description}" "${libraries}-pthread -Wl,-rpath,\${libdir}"
    "${requires}")
endfunction()
sinew_module_pkg_config(event "Events and tasks of all ranks, for C++20 programs on Sinew")
sinew_module_pkg_config(region "Typed data in the memory of all ranks, for C++20 programs on Sinew")
sinew_module_pkg_config(route "Plans for transfers over many paths, for C++20 programs")
sinew_module_pkg_config(multipath "Transfers over many paths, for C++20 programs on Sinew")

# A file for environment modules and Lmod, in the build tree and in the installed one.
function(sinew_module_file place prefix_from_here bin_folder lib_folder man_folder mpi_folder)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile.in ${place}/sinew/${PROJECT_VERSION}
    @ONLY)
endfunction()
if(TARGET mpi_abi)
  sinew_module_file(${PROJECT_BINARY_DIR}/mpi/modulefiles ../../.. bin lib share/man mpi)
  set(modules ${CMAKE_INSTALL_DATADIR}/modulefiles)
  file(RELATIVE_PATH prefix_from_here /${modules}/sinew /)
  sinew_module_file(${PROJECT_BINARY_DIR}/packaging/modulefiles ${prefix_from_here}
    ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_MANDIR} libexec/sinew/mpi)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/packaging/modulefiles/ DESTINATION ${modules})
endif()

# What SinewUninstall.cmake removes: all that was installed, relative to the prefix. This rule
# stands last, since it lists what the rules before it have installed.
install(CODE "set(list share/sinew/installed.txt)
  set(files \${list})
  foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    file(RELATIVE_PATH file \${CMAKE_INSTALL_PREFIX} \${file})
    list(APPEND files \${file})
  endforeach()
  list(JOIN files \"\\n\" lines)
  file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${list}\" \"\${lines}\\n\")")
