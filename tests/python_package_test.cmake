# cmake -DPD_PYTHON=… -DPD_TORCH_DIR=… -DPD_BUILD=… -DPD_SOURCE=… -DPD_SCRATCH=… -P python_package_test.cmake
# Packs the built program as a Python package, installs it into a new virtual environment, and runs the tests of
# python/tests and the example there. The environment has the torch of PD_PYTHON.
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/run_command.cmake)

set(needed pytest ruff mypy scikit_build_core numpy safetensors pip)
list(JOIN needed "','" names)
execute_process(
  COMMAND ${PD_PYTHON} -c "import importlib.util as u; print(*[n for n in ['${names}'] if u.find_spec(n) is None])"
  OUTPUT_VARIABLE absent OUTPUT_STRIP_TRAILING_WHITESPACE)
if(absent)
  message(STATUS "python_package_test is skipped: ${PD_PYTHON} has no ${absent}")
  return()
endif()

file(REMOVE_RECURSE ${PD_SCRATCH})
run("making an environment" ${PD_PYTHON} -m venv --without-pip ${PD_SCRATCH})
set(python ${PD_SCRATCH}/bin/python)
run("asking for its folder" ${python} -c "print(__import__('sysconfig').get_paths()['purelib'], end='')")
cmake_path(GET PD_TORCH_DIR PARENT_PATH packages)
file(WRITE ${output}/torch.pth "${packages}\n")
run("the installation" ${python} -m pip install --quiet --disable-pip-version-check
    --no-build-isolation --no-deps --no-index -C cmake.define.PD_BUILT=${PD_BUILD} ${PD_SOURCE})

run("ruff" ${python} -m ruff check --quiet --no-cache ${PD_SOURCE})
run("ruff format" ${python} -m ruff format --check --quiet --no-cache python)
run("mypy" ${python} -m mypy --strict --cache-dir ${PD_SCRATCH}/mypy --package pipedream)
run("pytest" ${python} -W ignore -m pytest --quiet -p no:cacheprovider --show-capture=stderr)
message(STATUS "${output}")
run("the example" ${python} -W ignore examples/python/own_model.py)
if(NOT output MATCHES "right: (100|9[0-9])\\.[0-9] %")
  message(FATAL_ERROR "the example has not learned:\n${output}")
endif()
file(REMOVE_RECURSE ${PD_SCRATCH})
