# The libraries of the modules without libtorch. This list is the only one: ./run reads it too, to know
# which Debian packages to install. All that is missing is named at once, by pd_stop_if_missing().
set(PD_MISSING "")  # packages without which nothing can be built
set(PD_ABSENT "")   # packages without which some part is left out

macro(pd_require found what package)
  if(NOT ${found})
    message(STATUS "${what} was not found (Debian: ${package})")
    list(APPEND PD_MISSING ${package})
  endif()
endmacro()

macro(pd_prefer found what package without)
  if(NOT ${found})
    message(STATUS "${what} was not found (Debian: ${package}): ${without}")
    list(APPEND PD_ABSENT ${package})
  endif()
endmacro()

function(pd_stop_if_missing)
  if(PD_MISSING)
    list(JOIN PD_MISSING " " packages)
    message(FATAL_ERROR "missing: ${packages}. Run ./run setup, or install them. Header-only libraries may "
                        "also come from a folder made by './run deps' and named in PD_DEPS.")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(fmt QUIET)
pd_require(fmt_FOUND fmt libfmt-dev)
find_package(spdlog QUIET)
pd_require(spdlog_FOUND spdlog libspdlog-dev)
find_package(nlohmann_json QUIET)
pd_require(nlohmann_json_FOUND nlohmann-json nlohmann-json3-dev)
find_package(CLI11 QUIET)
pd_require(CLI11_FOUND CLI11 libcli11-dev)
find_package(ZLIB QUIET)
pd_require(ZLIB_FOUND zlib zlib1g-dev)

# toml++: Debian's library, else its headers (from PD_DEPS where no package exists).
add_library(pd_toml INTERFACE)
find_package(tomlplusplus QUIET)
find_library(PD_TOML_LIBRARY tomlplusplus)
if(tomlplusplus_FOUND AND PD_TOML_LIBRARY)
  target_link_libraries(pd_toml INTERFACE tomlplusplus::tomlplusplus ${PD_TOML_LIBRARY})
  target_compile_definitions(pd_toml INTERFACE TOML_HEADER_ONLY=0)
else()
  find_path(PD_TOML_HEADERS toml++/toml.h HINTS ${PD_DEPS}/include)
  pd_require(PD_TOML_HEADERS toml++ libtomlplusplus-dev)
  target_include_directories(pd_toml SYSTEM INTERFACE ${PD_TOML_HEADERS})
  # toml++ 3.3 as headers aborts on "[\n[" while assertions are on. Only the file that includes it gets
  # this: elsewhere it would turn other assertions off, and the precompiled header could not be used.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/core/document_toml.cpp PROPERTIES
                              COMPILE_DEFINITIONS NDEBUG SKIP_PRECOMPILE_HEADERS ON)
endif()

# XXH3: used as a header alone.
add_library(pd_xxhash INTERFACE)
find_path(PD_XXHASH_HEADERS xxhash.h HINTS ${PD_DEPS}/include)
pd_require(PD_XXHASH_HEADERS xxHash libxxhash-dev)
if(PD_XXHASH_HEADERS)
  target_include_directories(pd_xxhash SYSTEM INTERFACE ${PD_XXHASH_HEADERS})
endif()

if(NOT PD_PROGRAM_ONLY)
  find_package(GTest QUIET)
  pd_require(GTest_FOUND GoogleTest libgtest-dev)
  find_package(benchmark QUIET)
  pd_require(benchmark_FOUND "Google Benchmark" libbenchmark-dev)
  find_package(rapidcheck QUIET)
  pd_prefer(rapidcheck_FOUND RapidCheck librapidcheck-dev "property tests (*_property_test.cpp) are left out")
endif()

# MPI, by its C functions; asked for as C++, the one language of the project. Its obsolete C++ interface
# stays out.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
pd_prefer(MPI_CXX_FOUND MPI libopenmpi-dev "workers are threads of one process")
pd_prefer(MPIEXEC_EXECUTABLE mpirun openmpi-bin "tests with several processes are left out")

# hwloc: which hardware threads share a core, and which cores share memory.
find_path(PD_HWLOC_HEADERS hwloc.h)
find_library(PD_HWLOC_LIBRARY hwloc)
set(PD_HWLOC_FOUND OFF)
if(PD_HWLOC_HEADERS AND PD_HWLOC_LIBRARY)
  set(PD_HWLOC_FOUND ON)
  add_library(pd_hwloc INTERFACE)
  target_include_directories(pd_hwloc SYSTEM INTERFACE ${PD_HWLOC_HEADERS})
  target_link_libraries(pd_hwloc INTERFACE ${PD_HWLOC_LIBRARY})
endif()
pd_prefer(PD_HWLOC_FOUND hwloc libhwloc-dev "every hardware thread counts as a core")

# cpp-httplib: shows a page while a training runs. Only its pkg-config file knows how it was compiled.
find_package(PkgConfig QUIET)
pd_prefer(PkgConfig_FOUND pkg-config pkgconf "train --serve is refused")
set(PD_HTTPLIB_FOUND OFF)
if(PkgConfig_FOUND)
  pkg_check_modules(PD_HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)
  pd_prefer(PD_HTTPLIB_FOUND cpp-httplib libcpp-httplib-dev "train --serve is refused")
endif()

# libpng and libjpeg: decode the files of --data images:DIR. Debian's libjpeg-dev is libjpeg-turbo.
find_package(PNG QUIET)
pd_prefer(PNG_FOUND libpng libpng-dev "train --data images:DIR is refused")
find_package(JPEG QUIET)
pd_prefer(JPEG_FOUND libjpeg libjpeg-dev "train --data images:DIR is refused")
