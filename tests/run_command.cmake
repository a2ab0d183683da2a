# run(NAME COMMAND …): fails with the command's output, which is also in ${output}. The command runs in PD_SOURCE
# if that is set, else where CMake does.
function(run name)
  set(folder "")
  if(PD_SOURCE)
    set(folder WORKING_DIRECTORY ${PD_SOURCE})
  endif()
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err TIMEOUT 500 ${folder})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${name} ended with ${code}\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()
