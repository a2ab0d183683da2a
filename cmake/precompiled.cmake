# Headers that cost most, compiled once for all targets that include them with the same options.
option(PD_PCH "Precompile the heavy headers" ON)

# pd_add_precompiled(NAME HEADERS … LIBRARIES … [OPTIONS …]): options must be those of the targets that use it.
function(pd_add_precompiled name)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBRARIES;OPTIONS" ${ARGN})
  if(NOT PD_PCH)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cpp "// Carries a precompiled header.\n")
  add_library(${name} OBJECT ${PD_IF_LINKED} ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS} $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

function(pd_use_precompiled target name)
  if(PD_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()
