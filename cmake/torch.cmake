# libtorch out of a torch package (PyPI's wheel or a source build), without find_package(Torch): that
# demands a CUDA toolkit for every CUDA-built torch and brings a dummy protobuf target along.
include(find_torch)
if(PD_TORCH_PROBLEM)
  message(FATAL_ERROR "${PD_TORCH_PROBLEM}: run ./run setup, or configure with -DPD_WITH_TORCH=OFF for planning "
                      "and simulation only")
endif()

include(torch_target)
pd_add_torch(pd_torch)
message(STATUS "torch ${PD_TORCH_BUILD} at ${PD_TORCH_DIR} (CUDA: ${PD_TORCH_CUDA})")

# The Python that this torch belongs to: tests ask its packages for reference results.
string(REGEX REPLACE "/lib/python3[^/]*/site-packages/torch$" "/bin/python" PD_PYTHON "${PD_TORCH_DIR}")
if(NOT EXISTS ${PD_PYTHON} OR IS_DIRECTORY ${PD_PYTHON})
  set(PD_PYTHON python3)
endif()

# One precompiled header for all, and one for the tests, which are not optimised: 15 s once instead of in
# every file.
set(PD_TORCH_HEADERS <ATen/ATen.h> <torch/csrc/autograd/function.h>)
if(PD_SANITIZE)
  pd_add_precompiled(pd_torch_test_pch HEADERS ${PD_TORCH_HEADERS} LIBRARIES pd_torch OPTIONS -O0)
else()
  pd_add_precompiled(pd_torch_pch HEADERS ${PD_TORCH_HEADERS} LIBRARIES pd_torch)
  if(NOT PD_PROGRAM_ONLY)
    pd_add_precompiled(pd_torch_test_pch HEADERS ${PD_TORCH_HEADERS} <gtest/gtest.h> LIBRARIES pd_torch GTest::gtest
                       OPTIONS -O0)
  endif()
endif()

# pd_compile_quickly_with_torch(TARGET): like the tests. Under sanitizers the modules are, too: most of
# their time is libtorch's own.
function(pd_compile_quickly_with_torch target)
  target_compile_options(${target} PRIVATE -O0)
  pd_use_precompiled(${target} pd_torch_test_pch)
endfunction()

if(PD_SANITIZE)
  add_library(pd_plain_allocator OBJECT ${CMAKE_SOURCE_DIR}/tests/plain_allocator.cpp)
  target_link_libraries(pd_plain_allocator PRIVATE pd_torch)
endif()

function(pd_use_torch target)
  target_link_libraries(${target} PUBLIC pd_torch)
  if(PD_SANITIZE)
    pd_compile_quickly_with_torch(${target})
  else()
    pd_use_precompiled(${target} pd_torch_pch)
  endif()
endfunction()

# The same for a test program.
function(pd_use_torch_in_test target)
  target_link_libraries(${target} PRIVATE pd_torch)
  if(PD_SANITIZE)
    target_link_libraries(${target} PRIVATE pd_plain_allocator)
  endif()
  pd_compile_quickly_with_torch(${target})
endfunction()
