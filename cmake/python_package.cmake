# The Python package as `pip install .` makes it (pyproject.toml): the program goes into the package's folder,
# beside a note which torch it was built for. CI packs a program that is already built: PD_BUILT names its
# build folder.

# pd_install_python_package(FOLDER): the program and the note, out of a build folder.
function(pd_install_python_package folder)
  install(PROGRAMS ${folder}/bin/pipedream DESTINATION pipedream/bin COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES ${folder}/python/_build.py DESTINATION pipedream COMPONENT python EXCLUDE_FROM_ALL)
endfunction()

# pd_use_torch_of_python(): sets PD_TORCH to the torch of the Python for which the package is built.
macro(pd_use_torch_of_python)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE PD_TORCH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT PD_TORCH)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no torch: install it first (pip install torch), then "
                        "pip install --no-build-isolation .")
  endif()
endmacro()

# pd_limit_compile_jobs(): a file that includes libtorch takes the compiler up to 2 GiB.
function(pd_limit_compile_jobs)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  cmake_host_system_information(RESULT memory QUERY AVAILABLE_PHYSICAL_MEMORY)  # MiB
  math(EXPR jobs "${memory} / 2048")
  if(jobs GREATER cores)
    set(jobs ${cores})
  elseif(jobs LESS 1)
    set(jobs 1)
  endif()
  set_property(GLOBAL PROPERTY JOB_POOLS compile=${jobs})
  set(CMAKE_JOB_POOL_COMPILE compile PARENT_SCOPE)
endfunction()
