# SPDX-License-Identifier: BSD-3-Clause
# cmake -DPREFIX=<prefix> -P SinewUninstall.cmake: removes what was installed below the prefix, by
# the list that the installation has written there, and the folders that are empty then. Those of
# /usr and /usr/local stay, but for our own.
get_filename_component(PREFIX "${PREFIX}" ABSOLUTE)
set(list ${PREFIX}/share/sinew/installed.txt)
if(NOT EXISTS ${list})
  message(FATAL_ERROR "nothing to remove: there is no ${list}; name the prefix of the installation "
    "(make uninstall PREFIX=FOLDER)")
endif()
file(STRINGS ${list} names ENCODING UTF-8)
set(folders "")
foreach(name IN LISTS names)
  file(REMOVE "${PREFIX}/${name}")
  get_filename_component(folder "${name}" DIRECTORY)
  while(folder)
    list(APPEND folders "${folder}")
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING)  # what lies in a folder comes before the folder
foreach(folder IN LISTS folders)
  file(GLOB left LIST_DIRECTORIES true "${PREFIX}/${folder}/*" "${PREFIX}/${folder}/.*")
  if(NOT left AND (folder MATCHES "[Ss]inew" OR NOT PREFIX MATCHES "^/usr(/local)?$"))
    file(REMOVE_RECURSE "${PREFIX}/${folder}")
  endif()
endforeach()
list(LENGTH names count)
message(STATUS "removed ${count} files from ${PREFIX}")
