# SPDX-License-Identifier: BSD-3-Clause
# cmake -DMODE=-i|--dry-run -P SinewFormat.cmake
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
find_program(CLANG_FORMAT NAMES clang-format-19 clang-format REQUIRED)
foreach(folder include src abi tools tests bench examples)
  file(GLOB_RECURSE found ${root}/${folder}/*.cpp ${root}/${folder}/*.hpp)
  list(APPEND files ${found})
endforeach()
list(FILTER files EXCLUDE REGEX "/generated/")
execute_process(COMMAND ${CLANG_FORMAT} ${MODE} --Werror ${files} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "some files are not formatted: run `make format`")
endif()
