# pd_add_torch(TARGET): the libraries of the torch package at PD_TORCH_DIR (find_torch.cmake) as a target, for
# this project and, installed, for programs that link it. Sets PD_TORCH_CUDA.
macro(pd_add_torch target)
  set(PD_TORCH_CUDA OFF)
  set(_libraries torch_cpu c10 torch)
  if(EXISTS ${PD_TORCH_DIR}/lib/libtorch_cuda.so)
    set(PD_TORCH_CUDA ON)
    list(APPEND _libraries torch_cuda c10_cuda)
  endif()
  add_library(${target} INTERFACE ${ARGN})
  target_include_directories(${target} SYSTEM INTERFACE
      ${PD_TORCH_DIR}/include ${PD_TORCH_DIR}/include/torch/csrc/api/include)
  # libtorch_cuda registers its kernels when it is loaded, though no symbol of it is named: keep it.
  target_link_options(${target} INTERFACE -Wl,--no-as-needed -Wl,--allow-shlib-undefined)
  # libtorch brings libstdc++.so.6 along. A compiler that links a static one would put a second beside it,
  # and the streams of the two do not mix.
  target_link_libraries(${target} INTERFACE -l:libstdc++.so.6)
  foreach(_library IN LISTS _libraries)
    target_link_libraries(${target} INTERFACE ${PD_TORCH_DIR}/lib/lib${_library}.so)
  endforeach()
endmacro()
