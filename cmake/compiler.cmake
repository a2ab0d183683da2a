# How every target is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_compile_options(-fPIC)  # for all alike: programs and libraries share one precompiled header
# Plans, predictions and weights do not depend on whether a processor can multiply and add in one go: what is
# not written as std::fma is rounded after each.
add_compile_options(-ffp-contract=off)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")  # -g1: line numbers in stack traces, little more to link

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow
                    -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default
if(NOT PD_PROGRAM_ONLY)  # who installs the program may have a compiler that warns of more
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # g++ 13 sees overflows in fmt's inlined buffers that cannot happen. Its vectoriser of straight code
  # replaces values by zero: 13.3 on x86 loses both numbers of microbatches in train/trainer.cpp.
  add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -fno-tree-slp-vectorize)
endif()

find_program(PD_CCACHE ccache)
if(PD_CCACHE)
  # Without this sloppiness ccache refuses every file that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${PD_CCACHE})
endif()

if(PD_SANITIZE)
  add_compile_options(-fsanitize=${PD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${PD_SANITIZE})
  if(PD_SANITIZE MATCHES undefined AND NOT PD_FUZZ)
    # A check at every pointer, a third of the time to compile: what they find either ends in the address
    # sanitizer, or is found by the preset fuzz, which has them. vptr needs classes that libtorch hides.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
if(PD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
