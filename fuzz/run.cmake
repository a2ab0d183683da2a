# Runs PD_PROGRAM from the seeds in PD_CORPUS; fails when it fails, and also when the time was up
# before PD_RUNS inputs were tried, for which libFuzzer itself exits with 0.
file(GLOB seeds ${PD_CORPUS}/*)
if(NOT seeds)
  message(FATAL_ERROR "no seeds found in ${PD_CORPUS}")
endif()
# By list and not by folder: libFuzzer would write what it finds into the folder.
list(JOIN seeds "," seeds)
# Leaks are looked for by the tests of the preset 'asan': here the search alone would take seconds.
# Short stacks and a small quarantine make the allocations cheap; Entropic's bookkeeping is not.
set(ENV{ASAN_OPTIONS} detect_leaks=0:malloc_context_size=2:quarantine_size_mb=8)
execute_process(
  COMMAND ${PD_PROGRAM} -seed_inputs=${seeds} -dict=${PD_DICTIONARY} -runs=${PD_RUNS} -seed=1
          -max_total_time=${PD_SECONDS} -max_len=${PD_LONGEST} -timeout=10
          -entropic=0 -detect_leaks=0 -verbosity=0 -print_final_stats=1
  RESULT_VARIABLE result ERROR_VARIABLE log ECHO_ERROR_VARIABLE)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PD_PROGRAM} failed: ${result}")
endif()
if(NOT log MATCHES "stat::number_of_executed_units: ([0-9]+)" OR CMAKE_MATCH_1 LESS PD_RUNS)
  message(FATAL_ERROR "wanted ${PD_RUNS} inputs within ${PD_SECONDS} s, tried ${CMAKE_MATCH_1}")
endif()
