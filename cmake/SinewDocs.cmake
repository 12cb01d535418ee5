# SPDX-License-Identifier: BSD-3-Clause
# cmake -P SinewDocs.cmake: docs/ to build/docs, with the settings table of the built binary.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
file(COPY ${root}/docs ${root}/README.md ${root}/ARCHITECTURE.md DESTINATION ${root}/build)
execute_process(COMMAND ${root}/build/bin/sinew info config
  OUTPUT_FILE ${root}/build/docs/reference/settings.txt RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "`sinew info config` failed: ${failed}")
endif()
message(STATUS "pages are in build/docs")
