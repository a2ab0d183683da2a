# cmake -DPD_BUILD=… -DPD_SCRATCH=… -DPD_EXAMPLE=… -DPD_COMPILER=… -DPD_TORCH_VERSION=… -DPD_DEPS_FOLDER=… [-DPD_MPIRUN=…]
#       -P installed_library_test.cmake
# Installs the build tree into a scratch folder, looks at what lies there, and builds and runs a program outside
# of the repository with it.
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/run_command.cmake)

file(REMOVE_RECURSE ${PD_SCRATCH})
run("the installation" ${CMAKE_COMMAND} --install ${PD_BUILD} --prefix ${PD_SCRATCH}/prefix)

# Installed headers stand alone: they include the standard library, torch and each other.
file(GLOB_RECURSE headers RELATIVE ${PD_SCRATCH}/prefix/include ${PD_SCRATCH}/prefix/include/*)
list(SORT headers)
if(NOT headers STREQUAL "pipedream/detail.h;pipedream/errors.h;pipedream/pipedream.h")
  message(FATAL_ERROR "these headers were installed: ${headers}")
endif()
foreach(header IN LISTS headers)
  file(STRINGS ${PD_SCRATCH}/prefix/include/${header} includes REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS includes)
    if(NOT line MATCHES "^#include <([a-z_]+|torch/torch\\.h|pipedream/(detail|errors)\\.h)>$")
      message(FATAL_ERROR "${header} includes what is not installed, or not ours to include: ${line}")
    endif()
  endforeach()
endforeach()

# A project that can do without it goes on without it, and is told why.
file(WRITE ${PD_SCRATCH}/lookup/CMakeLists.txt [=[
cmake_minimum_required(VERSION 3.25)
project(lookup NONE)
find_package(pipedream QUIET)
message(STATUS "found: ${pipedream_FOUND}, because: ${pipedream_NOT_FOUND_MESSAGE}")
]=])
function(expect_not_found torch wanted)
  run("a lookup with PD_TORCH=${torch}" ${CMAKE_COMMAND} -S ${PD_SCRATCH}/lookup -B ${PD_SCRATCH}/lookup/build --fresh
      -DCMAKE_PREFIX_PATH=${PD_SCRATCH}/prefix -DPD_TORCH=${torch})
  if(NOT output MATCHES "found: (FALSE|0), because: pipedream was built with torch [^\n]*${wanted}")
    message(FATAL_ERROR "pipedream is found with the torch of ${torch}, or not for '${wanted}':\n${output}")
  endif()
endfunction()
expect_not_found(${PD_SCRATCH}/no_torch "holds no torch")
file(WRITE ${PD_SCRATCH}/other_torch/version.py "__version__ = '${PD_TORCH_VERSION}+other'\n")
file(WRITE ${PD_SCRATCH}/other_torch/lib/libtorch_cpu.so "")
expect_not_found(${PD_SCRATCH}/other_torch "found torch ${PD_TORCH_VERSION}.other")

file(COPY ${PD_EXAMPLE}/own_model.cpp ${PD_EXAMPLE}/CMakeLists.txt DESTINATION ${PD_SCRATCH}/program)
run("the configuration" ${CMAKE_COMMAND} -S ${PD_SCRATCH}/program -B ${PD_SCRATCH}/program/build
    -DCMAKE_PREFIX_PATH=${PD_SCRATCH}/prefix -DCMAKE_CXX_COMPILER=${PD_COMPILER} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
run("the build" ${CMAKE_COMMAND} --build ${PD_SCRATCH}/program/build)

# It learned: guessing is right one time in three.
function(expect_learned name)
  run(${name} ${ARGN})
  if(NOT output MATCHES "held-out accuracy ([01][.0-9]*)\n")
    message(FATAL_ERROR "${name} does not say how accurate it is:\n${output}")
  endif()
  if(CMAKE_MATCH_1 LESS 0.9)
    message(FATAL_ERROR "${name} has not learned:\n${output}")
  endif()
endfunction()
expect_learned("the program" ${PD_SCRATCH}/program/build/own_model)
if(PD_MPIRUN)
  expect_learned("the program on two processes" ${PD_MPIRUN} --oversubscribe --bind-to none -n 2
                 ${PD_SCRATCH}/program/build/own_model)
endif()

# The program of the command line works from there, too, also from another folder. Where libtorch lies in the
# checkout, it was installed: nothing is loaded from the checkout, which may be gone.
file(RENAME ${PD_SCRATCH}/prefix ${PD_SCRATCH}/elsewhere)
run("the installed pipedream" ${PD_SCRATCH}/elsewhere/bin/pipedream train --model mlp --minibatches 4 --workers 1)
run("ldd" ldd ${PD_SCRATCH}/elsewhere/bin/pipedream)
if(output MATCHES "${PD_DEPS_FOLDER}")
  message(FATAL_ERROR "the installed program loads libraries of ${PD_DEPS_FOLDER}:\n${output}")
endif()
file(REMOVE_RECURSE ${PD_SCRATCH})
