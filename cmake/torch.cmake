# libtorch out of a torch package (PyPI's wheel or a source build), without find_package(Torch): that
# demands a CUDA toolkit for every CUDA-built torch and brings a dummy protobuf target along.
include(find_torch)
if(NOT PD_TORCH_DIR)
  message(FATAL_ERROR "no torch >= ${PD_TORCH_OLDEST} was found in PD_TORCH, the current python3 or .deps/: "
                      "run ./run setup, or configure with -DPD_WITH_TORCH=OFF for planning and simulation only")
endif()

set(PD_TORCH_CUDA OFF)
set(_libraries torch_cpu c10 torch)
if(EXISTS ${PD_TORCH_DIR}/lib/libtorch_cuda.so)
  set(PD_TORCH_CUDA ON)
  list(APPEND _libraries torch_cuda c10_cuda)
endif()
message(STATUS "torch ${PD_TORCH_VERSION} at ${PD_TORCH_DIR} (CUDA: ${PD_TORCH_CUDA})")

# The Python that this torch belongs to: tests ask its packages for reference results.
string(REGEX REPLACE "/lib/python3[^/]*/site-packages/torch$" "/bin/python" PD_PYTHON "${PD_TORCH_DIR}")
if(NOT EXISTS ${PD_PYTHON} OR IS_DIRECTORY ${PD_PYTHON})
  set(PD_PYTHON python3)
endif()

add_library(pd_torch INTERFACE)
target_include_directories(pd_torch SYSTEM INTERFACE
    ${PD_TORCH_DIR}/include ${PD_TORCH_DIR}/include/torch/csrc/api/include)
# libtorch_cuda registers its kernels when it is loaded, though no symbol of it is named: keep it.
target_link_options(pd_torch INTERFACE -Wl,--no-as-needed -Wl,--allow-shlib-undefined
    -Wl,-rpath,${PD_TORCH_DIR}/lib)
# libtorch brings libstdc++.so.6 along. A compiler that links a static one would put a second beside it,
# and the streams of the two do not mix.
target_link_libraries(pd_torch INTERFACE -l:libstdc++.so.6)
foreach(_library IN LISTS _libraries)
  target_link_libraries(pd_torch INTERFACE ${PD_TORCH_DIR}/lib/lib${_library}.so)
endforeach()

# One precompiled header for all: 15 s once instead of in every file.
file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cpp "// Carries the precompiled header of cmake/torch.cmake.\n")
add_library(pd_torch_pch OBJECT ${CMAKE_BINARY_DIR}/torch_pch.cpp)
target_link_libraries(pd_torch_pch PRIVATE pd_torch)
target_precompile_headers(pd_torch_pch PRIVATE <ATen/ATen.h> <torch/csrc/autograd/function.h>)
target_compile_options(pd_torch_pch PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

if(PD_SANITIZE)
  add_library(pd_plain_allocator OBJECT ${CMAKE_SOURCE_DIR}/tests/plain_allocator.cpp)
  target_link_libraries(pd_plain_allocator PRIVATE pd_torch)
endif()

function(pd_use_torch target)
  target_link_libraries(${target} PUBLIC pd_torch)
  get_target_property(type ${target} TYPE)
  if(PD_SANITIZE AND type STREQUAL EXECUTABLE)
    target_link_libraries(${target} PRIVATE pd_plain_allocator)
  endif()
  target_precompile_headers(${target} REUSE_FROM pd_torch_pch)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
