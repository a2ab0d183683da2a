# pd_modules(): one static library pd_<module> and one test program <module>_test for every folder of
# src/ that exists. What a module is linked with is its line in layers.cmake, plus the libraries below.
set(PD_LIBRARIES_core fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json Threads::Threads pd_toml
    pd_xxhash)
set(PD_LIBRARIES_cli CLI11::CLI11)
set(PD_LIBRARIES_transport Threads::Threads)
set(PD_INNER_LIBRARIES_transport "")  # in no header that others include
if(MPI_CXX_FOUND)
  list(APPEND PD_INNER_LIBRARIES_transport MPI::MPI_CXX)
  set(PD_NOT_BUILT "transport/mpi_absent\\.cpp$")
else()
  set(PD_NOT_BUILT "transport/mpi(_engine|_board)?\\.cpp$")
endif()
if(PD_NCCL_FOUND)
  list(APPEND PD_INNER_LIBRARIES_transport pd_nccl)
  string(APPEND PD_NOT_BUILT "|transport/nccl_absent\\.cpp$")
else()
  string(APPEND PD_NOT_BUILT "|transport/nccl\\.cpp$")
endif()
set(PD_INNER_LIBRARIES_place "")
if(PD_HWLOC_FOUND)
  list(APPEND PD_INNER_LIBRARIES_place pd_hwloc)
  string(APPEND PD_NOT_BUILT "|place/topology_absent\\.cpp$")
else()
  string(APPEND PD_NOT_BUILT "|place/topology_hwloc\\.cpp$")
endif()
set(PD_INNER_LIBRARIES_page Threads::Threads)
if(PD_HTTPLIB_FOUND)
  list(APPEND PD_INNER_LIBRARIES_page PkgConfig::PD_HTTPLIB)
  string(APPEND PD_NOT_BUILT "|page/live_absent\\.cpp$")
else()
  string(APPEND PD_NOT_BUILT "|page/live_httplib\\.cpp$")
endif()
set(PD_LIBRARIES_data ZLIB::ZLIB)
set(PD_LIBRARIES_pt2 ZLIB::ZLIB)

# What is handed to it is finite (src/plan/smallest_larger.h).
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/plan/smallest_larger.cpp PROPERTIES
    COMPILE_OPTIONS "-O3;-funroll-loops;-ffinite-math-only;-fno-signed-zeros" SKIP_PRECOMPILE_HEADERS ON)
# Computes with as many numbers at once as libtorch's kernels do (src/train/sgd_pass.h).
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/train/sgd_pass.cpp PROPERTIES
    COMPILE_OPTIONS "-O3" SKIP_PRECOMPILE_HEADERS ON)

# With the address sanitizer, optimising takes longer than it saves in the tests, but in modules that
# compute much in them. At the end of every program it looks for leaks, on 64-bit Arm for four seconds however
# small the program is: so it gets the tests of all modules without libtorch in one.
set(PD_PLAIN_MODULES "")
set(PD_ONE_PROGRAM OFF)
if(PD_SANITIZE MATCHES address AND NOT PD_FUZZ)
  set(PD_PLAIN_MODULES profile report systems timeline transport)
  set(PD_ONE_PROGRAM ON)
endif()

# What is tested is optimised, the tests are not: that would take most of the build. In those of plan and
# schedule it pays: they look at all plans, or run schedules, by themselves in thousands of random cases.
set(PD_OPTIMISED_TESTS "")
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set(PD_OPTIMISED_TESTS plan_test schedule_test)
endif()

# pd_add_test_precompiled(LEVEL): the headers of the tests without libtorch, as they are with -OLEVEL.
function(pd_add_test_precompiled level)
  set(headers <gtest/gtest.h> <map> <vector>)
  if(rapidcheck_FOUND)
    list(APPEND headers <rapidcheck/gtest.h>)
    set(rapidcheck_target rapidcheck)
  endif()
  pd_add_precompiled(pd_test_pch_${level} HEADERS ${headers}
                     LIBRARIES ${PD_LIBRARIES_core} GTest::gtest_main ${rapidcheck_target} OPTIONS -O${level})
endfunction()

# pd_compile_quickly(TARGET): of a test program without libtorch's headers.
function(pd_compile_quickly target)
  set(level 0)
  if(target IN_LIST PD_OPTIMISED_TESTS)
    set(level 1)
  endif()
  target_compile_options(${target} PRIVATE -O${level})
  pd_use_precompiled(${target} pd_test_pch_${level})
endfunction()

function(pd_modules)
  set(headers <fmt/format.h> <nlohmann/json.hpp>)
  pd_add_precompiled(pd_pch HEADERS ${headers} LIBRARIES ${PD_LIBRARIES_core})
  if(PD_PLAIN_MODULES)
    pd_add_precompiled(pd_plain_pch HEADERS ${headers} LIBRARIES ${PD_LIBRARIES_core} OPTIONS -O0)
  endif()
  if(NOT PD_PROGRAM_ONLY)
    pd_add_test_precompiled(0)
    if(PD_OPTIMISED_TESTS)
      pd_add_test_precompiled(1)
    endif()
  endif()
  foreach(line IN LISTS PD_LAYERS)
    string(REGEX MATCH "^[a-z0-9]+" module "${line}")
    pd_layer_line(${module} uses)
    if(NOT IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${module})
      continue()
    endif()
    if("+torch" IN_LIST uses AND NOT PD_WITH_TORCH)
      continue()
    endif()
    pd_add_module(${module} "${uses}")
    pd_add_module_tests(${module} "${uses}")
  endforeach()
  if(PD_ONE_PROGRAM)
    pd_add_modules_test()
  endif()
endfunction()

# pd_embed_web(FOLDER FILE): a C++ file with the style sheet and the scripts of a page (src/page/assets.h).
function(pd_embed_web folder file)
  set(scripts base timeline charts plan main)  # each needs those before it
  list(TRANSFORM scripts PREPEND ${folder}/)
  list(TRANSFORM scripts APPEND .js)
  add_custom_command(OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -D "STYLE=${folder}/page.css" -D "SCRIPTS=${scripts}" -D "FILE=${file}"
              -P ${CMAKE_SOURCE_DIR}/cmake/embed_web.cmake
      DEPENDS ${folder}/page.css ${scripts} ${CMAKE_SOURCE_DIR}/cmake/embed_web.cmake VERBATIM)
endfunction()

function(pd_add_module module uses)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "${PD_NOT_BUILT}")
  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${module}/web)
    pd_embed_web(${CMAKE_SOURCE_DIR}/src/${module}/web ${CMAKE_BINARY_DIR}/generated/${module}_assets.cpp)
    list(APPEND sources ${CMAKE_BINARY_DIR}/generated/${module}_assets.cpp)
  endif()
  add_library(pd_${module} STATIC ${PD_IF_LINKED} ${sources})
  target_include_directories(pd_${module} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(pd_${module} PUBLIC ${PD_LIBRARIES_${module}}
                                     PRIVATE ${PD_INNER_LIBRARIES_${module}})
  target_compile_definitions(pd_${module} PRIVATE PD_VERSION="${PROJECT_VERSION}")
  foreach(other IN LISTS uses)
    if(other STREQUAL "+torch")
      pd_use_torch(pd_${module})
    elseif(TARGET pd_${other})
      target_link_libraries(pd_${module} PUBLIC pd_${other})
    endif()
  endforeach()
  if(module IN_LIST PD_PLAIN_MODULES)
    target_compile_options(pd_${module} PRIVATE -O0)
    pd_use_precompiled(pd_${module} pd_plain_pch)
  elseif(NOT "+torch" IN_LIST uses)
    pd_use_precompiled(pd_${module} pd_pch)
  endif()
  if(EXISTS ${CMAKE_SOURCE_DIR}/src/${module}/main.cpp)
    add_executable(pipedream ${PD_IF_LINKED} ${CMAKE_SOURCE_DIR}/src/${module}/main.cpp)
    target_link_libraries(pipedream PRIVATE pd_${module})
  endif()
endfunction()

function(pd_add_modules_test)
  get_property(tests GLOBAL PROPERTY PD_TOGETHER_TESTS)
  get_property(libraries GLOBAL PROPERTY PD_TOGETHER_LIBRARIES)
  pd_add_test(modules_test LABEL fast SOURCES ${tests} LIBRARIES ${libraries})
  pd_compile_quickly(modules_test)
  set_target_properties(modules_test PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# Tests lie beside what they test; those of a module make one program, so that libtorch is linked once.
function(pd_add_module_tests module uses)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*_test.cpp)
  if(NOT rapidcheck_FOUND)
    list(FILTER tests EXCLUDE REGEX "(_property|(plan|schedule|systems)/[a-z]+_slow)_test\\.cpp$")
  endif()
  list(FILTER tests EXCLUDE REGEX "/mpi_test\\.cpp$")  # runs as several processes: tests/CMakeLists.txt
  if(NOT tests OR PD_FUZZ OR PD_PROGRAM_ONLY)
    return()
  endif()
  if("+torch" IN_LIST uses)
    pd_add_test(${module}_test LABEL torch SOURCES ${tests} LIBRARIES pd_${module})
    pd_use_torch_in_test(${module}_test)
  elseif(PD_ONE_PROGRAM)
    set_source_files_properties(${tests} PROPERTIES UNITY_GROUP ${module})
    set_property(GLOBAL APPEND PROPERTY PD_TOGETHER_TESTS ${tests})
    set_property(GLOBAL APPEND PROPERTY PD_TOGETHER_LIBRARIES pd_${module})
  else()
    pd_add_test(${module}_test LABEL fast SOURCES ${tests} LIBRARIES pd_${module})
    pd_compile_quickly(${module}_test)
  endif()
endfunction()

# pd_add_test(NAME LABEL label [SHARDS n] SOURCES … LIBRARIES …): a GoogleTest program and its CTest entry, or
# entries, each for a part of the tests, so that a long one does not end alone.
function(pd_add_test name)
  cmake_parse_arguments(arg "" "LABEL;SHARDS" "SOURCES;LIBRARIES" ${ARGN})
  if(PD_SANITIZE)
    list(FILTER arg_SOURCES EXCLUDE REGEX "_slow_test\\.cpp$")
  endif()
  add_executable(${name} ${PD_IF_LINKED} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  if(rapidcheck_FOUND)
    target_link_libraries(${name} PRIVATE rapidcheck)
  endif()
  target_compile_definitions(${name} PRIVATE PD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  if(NOT ${name} MATCHES "${PD_TESTS}")  # what is empty matches all
    return()
  endif()
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL OFF)
  # Two programs run at a time: a second thread of libtorch's own would mostly wait for a core.
  set(environment OMP_NUM_THREADS=1)
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(entry ${name})
    if(arg_SHARDS GREATER 1)
      set(entry ${name}_${shard}_of_${arg_SHARDS})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1 --gtest_filter=-Slow*)
    set_tests_properties(${entry} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600
        ENVIRONMENT "${environment};RC_PARAMS=seed=1 max_success=${PD_PROPERTY_CASES};GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
  # Properties run once more with a seed of RapidCheck's choice, which it prints (ctest -V shows it). The
  # address sanitizer looked for leaks the first time, and takes seconds for that.
  if("${arg_SOURCES}" MATCHES "_property_test\\.cpp")
    add_test(NAME ${name}_random_seed COMMAND ${name} --gtest_filter=*Property.*-Slow*)
    set_tests_properties(${name}_random_seed PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600
                         ENVIRONMENT "${environment};RC_PARAMS=max_success=${PD_PROPERTY_CASES};LSAN_OPTIONS=detect_leaks=0")
  endif()
  # Suites named Slow…, in files *_slow_test.cpp: not under sanitizers, and with many more cases.
  if("${arg_SOURCES}" MATCHES "_slow_test\\.cpp")
    string(REGEX REPLACE "_test$" "_slow" entry ${name})
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1 --gtest_filter=Slow*)
    # COST: the longest begin first, so that none ends alone.
    set_tests_properties(${entry} PROPERTIES LABELS slow TIMEOUT 900 COST 100
                         ENVIRONMENT RC_PARAMS=max_success=${PD_SLOW_CASES})
  endif()
endfunction()
