# Which torch package is used. Sets PD_TORCH_DIR (empty: none will do; PD_TORCH_PROBLEM says why),
# PD_TORCH_VERSION, and PD_TORCH_BUILD: the version with what it was built for ("2.10.0+cu128").
# Order of search: PD_TORCH (variable or environment), the current python3, .deps/ (made by ./run setup).
# As a script (cmake -P) it prints the folder: ./run asks so whether a torch must be fetched.
set(PD_TORCH_OLDEST 2.10)

# Sets PD_TORCH_VERSION, PD_TORCH_BUILD, PD_TORCH_DIR in the caller when `dir` holds a torch that will do.
macro(pd_try_torch dir)
  if(NOT PD_TORCH_DIR AND EXISTS "${dir}/version.py" AND EXISTS "${dir}/lib/libtorch_cpu.so")
    file(STRINGS "${dir}/version.py" _line REGEX "^__version__")
    string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" PD_TORCH_VERSION "${_line}")
    string(REGEX REPLACE "^[^'\"]*['\"]([^'\"]*).*$" "\\1" PD_TORCH_BUILD "${_line}")
    if(PD_TORCH_VERSION VERSION_GREATER_EQUAL PD_TORCH_OLDEST)
      set(PD_TORCH_DIR "${dir}")
    endif()
  endif()
endmacro()

set(PD_TORCH_DIR "")
set(PD_TORCH_PROBLEM "")
if(PD_TORCH)
  pd_try_torch("${PD_TORCH}")
  if(NOT PD_TORCH_DIR)
    set(PD_TORCH_PROBLEM "PD_TORCH names ${PD_TORCH}, which holds no torch >= ${PD_TORCH_OLDEST} (wanted the \
package's folder, with version.py and lib/libtorch_cpu.so)")
  endif()
else()
  execute_process(COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
                  OUTPUT_VARIABLE _found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  pd_try_torch("${_found}")
  cmake_path(SET _deps NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../.deps")
  file(GLOB _found ${_deps}/torch-*/lib/python3*/site-packages/torch)
  foreach(_dir IN LISTS _found)
    pd_try_torch("${_dir}")
  endforeach()
  if(NOT PD_TORCH_DIR)
    set(PD_TORCH_PROBLEM "no torch >= ${PD_TORCH_OLDEST} was found in PD_TORCH, the current python3 or .deps/")
  endif()
endif()
if(CMAKE_SCRIPT_MODE_FILE)
  if(PD_TORCH AND PD_TORCH_PROBLEM)
    message(FATAL_ERROR "${PD_TORCH_PROBLEM}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${PD_TORCH_DIR}")
endif()
