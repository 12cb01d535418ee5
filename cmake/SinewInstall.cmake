# What `make install` copies, and how other builds find it: a CMake package and pkg-config files.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY SINEW_ROOMS)
install(TARGETS sinew_options ${rooms} EXPORT SinewTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET sinew)
  install(TARGETS sinew RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/abi/mpi/CMakeLists.txt)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/sinew-mpi.pc.in
    ${PROJECT_BINARY_DIR}/sinew-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/sinew-mpi.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
