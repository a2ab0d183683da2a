# The C++ library and what `cmake --install` puts where: the program, one shared library of all modules, its
# headers, and the files by which find_package(pipedream) finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(pipedream_library SHARED ${CMAKE_BINARY_DIR}/library.cpp)
file(WRITE ${CMAKE_BINARY_DIR}/library.cpp "// Carries the modules of src/ as one library (cmake/install.cmake).\n")
target_link_libraries(pipedream_library PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,pd_library>)
# What the header names is in pd_library; the symbols of all other modules stay inside.
foreach(line IN LISTS PD_LAYERS)
  string(REGEX MATCH "^[a-z]+" module "${line}")
  if(NOT module STREQUAL library)
    target_link_options(pipedream_library PRIVATE -Wl,--exclude-libs,libpd_${module}.a)
  endif()
endforeach()
set_target_properties(pipedream_library PROPERTIES OUTPUT_NAME pipedream EXPORT_NAME pipedream
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} UNITY_BUILD OFF)
target_include_directories(pipedream_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(pipedream_library INTERFACE cxx_std_20)
target_link_libraries(pipedream_library INTERFACE $<INSTALL_INTERFACE:pipedream::torch>)

# Where the installed program and library find libtorch. A torch that lies inside of this checkout (.deps/) is
# installed with them, so that the checkout can go; any other is used where it is.
cmake_path(IS_PREFIX CMAKE_SOURCE_DIR "${PD_TORCH_DIR}" NORMALIZE torch_is_inside)
option(PD_INSTALL_TORCH "Install libtorch's libraries beside the program" ${torch_is_inside})
if(PD_INSTALL_TORCH)
  set(torch_home ${CMAKE_INSTALL_LIBDIR}/pipedream/torch/lib)
  install(DIRECTORY ${PD_TORCH_DIR}/lib/ DESTINATION ${torch_home} FILES_MATCHING PATTERN "*.so*"
          PATTERN "libtorch_python*" EXCLUDE PATTERN "*_test.so" EXCLUDE PATTERN "libshm*" EXCLUDE)
  # Libraries that builds of torch keep beside its folder, where libtorch looks for them: those of a build for
  # CUDA are needed on a CPU too.
  cmake_path(GET PD_TORCH_DIR PARENT_PATH packages)
  if(EXISTS ${PD_TORCH_DIR}.libs)
    install(DIRECTORY ${PD_TORCH_DIR}.libs DESTINATION ${CMAKE_INSTALL_LIBDIR}/pipedream)
  endif()
  if(EXISTS ${packages}/nvidia)
    install(DIRECTORY ${packages}/nvidia DESTINATION ${CMAKE_INSTALL_LIBDIR}/pipedream
            FILES_MATCHING PATTERN "*.so*")
  endif()
  # The folders with libraries that the program and the library load themselves: libtorch's, and those of NCCL and
  # CUDA's runtime, which are installed if they lie beside libtorch.
  set(homes /${torch_home})
  set(elsewhere "")
  if(PD_NCCL_FOUND)
    file(REAL_PATH ${packages} packages)
    foreach(library ${PD_NCCL_LIBRARY} ${PD_CUDART_LIBRARY})
      file(REAL_PATH ${library} library)
      cmake_path(GET library PARENT_PATH folder)
      cmake_path(IS_PREFIX packages "${folder}" NORMALIZE is_installed)
      if(is_installed)
        file(RELATIVE_PATH folder ${packages} ${folder})
        list(APPEND homes /${CMAKE_INSTALL_LIBDIR}/pipedream/${folder})
      else()
        list(APPEND elsewhere ${folder})
      endif()
    endforeach()
  endif()
  foreach(home ${homes})
    file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} ${home})
    file(RELATIVE_PATH from_library /${CMAKE_INSTALL_LIBDIR} ${home})
    list(APPEND of_program "$ORIGIN/${from_program}")
    list(APPEND of_library "$ORIGIN/${from_library}")
  endforeach()
  set_target_properties(pipedream PROPERTIES INSTALL_RPATH "${of_program};${elsewhere}")
  set_target_properties(pipedream_library PROPERTIES INSTALL_RPATH "${of_library};${elsewhere}")
else()
  set_target_properties(pipedream pipedream_library PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pipedream)
install(TARGETS pipedream)
install(TARGETS pipedream_library EXPORT pipedream)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ TYPE INCLUDE)
install(EXPORT pipedream DESTINATION ${package} NAMESPACE pipedream:: FILE pipedreamTargets.cmake)
configure_package_config_file(cmake/pipedreamConfig.cmake.in ${CMAKE_BINARY_DIR}/pipedreamConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pipedreamConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/pipedreamConfig.cmake ${CMAKE_BINARY_DIR}/pipedreamConfigVersion.cmake
              cmake/find_torch.cmake cmake/torch_target.cmake
        DESTINATION ${package})
