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

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pipedream)
set_target_properties(pipedream pipedream_library PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
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
