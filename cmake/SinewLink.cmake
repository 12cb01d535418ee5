# SPDX-License-Identifier: BSD-3-Clause
# A linker writes its output from the first moment of a link, which takes minutes with LTO. Under
# the name of the library or the program that would be a damaged file for all that runs in the tree
# meanwhile. So it is linked under another name, and replaces the former one when it is whole.
foreach(language C CXX)
  foreach(rule CREATE_SHARED_LIBRARY CREATE_SHARED_MODULE LINK_EXECUTABLE)
    string(REPLACE "-o <TARGET>" "-o <TARGET>.new" command "${CMAKE_${language}_${rule}}")
    set(CMAKE_${language}_${rule} "${command}" "mv -f <TARGET>.new <TARGET>")
  endforeach()
endforeach()
