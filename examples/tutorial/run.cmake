# SPDX-License-Identifier: BSD-3-Clause
# cmake -DSINEW=<the launcher> -DPROGRAMS=<a,b,...> -P run.cmake: each with one rank and with three.
string(REPLACE "," ";" PROGRAMS "${PROGRAMS}")
foreach(program IN LISTS PROGRAMS)
  foreach(ranks 1 3)
    execute_process(COMMAND ${SINEW} run -n ${ranks} --timeout 50 ${program} RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${program} with ${ranks} ranks: ${code}")
    endif()
  endforeach()
endforeach()
