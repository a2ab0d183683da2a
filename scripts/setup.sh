# Sourced by ./run: finds out what is missing on this machine and installs it, Debian packages by apt
# and libtorch from PyPI into .deps/. Uses root, deps, torch_version, torch_home and torch_wheels of ./run.
# shellcheck shell=bash

# ---- what is missing -------------------------------------------------------------------------
# Everything is checked by what the build will do with it, not by asking dpkg: a tool or library
# that came another way is as good.

have_cmake() {
  have cmake && at_least "$(cmake --version | awk 'NR == 1 { print $3 }')" 3.25
}

# compiler OPTIONS...: the one CMake will take, on C++ from stdin.
compiler() {
  local command
  read -ra command <<<"${CXX:-c++}" # CXX may hold options, as in CXX="ccache g++"
  "${command[@]}" -std=c++20 -x c++ "$@" -
}

have_compiler() {
  compiler -fsyntax-only >/dev/null 2>&1 <<'END'
#include <concepts>
#include <source_location>
auto line = std::source_location::current().line();
END
}

have_venv() { python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }

# clang-format of another major version formats differently, so only 14 may judge or change files.
find_clang_format() {
  local name
  for name in clang-format-14 clang-format; do
    if have $name && [[ $($name --version) == *" version 14."* ]]; then
      printf '%s' $name
      return
    fi
  done
  return 1
}

have_fuzzer() {
  have clang++ || return 1
  local program
  program=$(mktemp)
  local status=0
  clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$program" >/dev/null 2>&1 <<'END' || status=1
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }
END
  rm -f "$program"
  return $status
}

has_header() { compiler -fsyntax-only >/dev/null 2>&1 <<<"#include <$1>"; }

# The folder of the torch that CMake will take (cmake/find_torch.cmake decides), or nothing.
torch_folder() { cmake -DPD_TORCH="$PD_TORCH" -P cmake/find_torch.cmake; }

# Adds to missing, and to absent what the build can do without, as Debian package names.
find_missing_build() {
  local torch
  have_cmake || missing+=(cmake)
  have ninja || missing+=(ninja-build)
  have_compiler || missing+=(g++)
  have git || missing+=(git)
  have python3 || missing+=(python3)
  if ((${#missing[@]} == 0)); then
    find_missing_libraries
    torch=$(torch_folder)
  else
    guess_missing_libraries
    torch=$PD_TORCH
    [[ ! -d $torch_home ]] || torch=$torch_home
  fi
  if [[ -z $torch ]]; then
    missing_torch=" (and torch >= 2.10, which ./run setup fetches from PyPI)"
    have_venv || missing+=(python3-venv) # to fetch it with
  fi
  have ccache || absent+=(ccache)
}

# Asks CMake, with the project's own list, in a scratch folder without memory of earlier answers.
find_missing_libraries() {
  local probe=$deps/probe found
  rm -rf "$probe"
  mkdir -p "$probe"
  cat >"$probe/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX)
include($root/cmake/dependencies.cmake)
file(WRITE \${CMAKE_BINARY_DIR}/missing "\${PD_MISSING}")
file(WRITE \${CMAKE_BINARY_DIR}/absent "\${PD_ABSENT}")
END
  cmake -G Ninja -S "$probe" -B "$probe/build" -DPD_DEPS="$PD_DEPS" >"$probe/log" 2>&1 ||
    stop "CMake cannot look for the libraries: $(cat "$probe/log")"
  IFS=';' read -ra found <"$probe/build/missing" || true # the file ends without a newline
  missing+=("${found[@]}")
  IFS=';' read -ra found <"$probe/build/absent" || true
  absent+=("${found[@]}")
}

# Without CMake or a compiler nothing but dpkg can say what is there.
guess_missing_libraries() {
  local kind package
  while read -r kind package; do
    if ! dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q ' installed$'; then
      if [[ $kind == pd_require ]]; then missing+=("$package"); else absent+=("$package"); fi
    fi
  done < <(sed -nE 's/^ *(pd_require|pd_prefer)\(.* ([a-z0-9.+-]+-dev)[ )].*/\1 \2/p' cmake/dependencies.cmake)
}

find_missing_test() {
  find_clang_format >/dev/null || absent+=(clang-format)
  have_fuzzer || absent+=(clang libclang-rt-dev)
  have chromedriver || absent+=(chromium chromium-driver)
  /usr/bin/python3 -c 'import selenium' 2>/dev/null || absent+=(python3-selenium)
}

find_missing_lint() {
  have clang-tidy || absent+=(clang-tidy)
  have shellcheck || absent+=(shellcheck)
}

find_missing_deps() {
  have_compiler || missing+=(g++)
  has_header toml++/toml.h || missing+=(libtomlplusplus-dev)
  has_header xxhash.h || missing+=(libxxhash-dev)
}

# ---- installing ------------------------------------------------------------------------------

# yes: without asking; ask: someone is there to answer; no: nobody is; never: forbidden.
install_policy() {
  if [[ ${PD_NO_INSTALL:-0} != 0 ]]; then
    echo never
  elif ((EUID == 0)) || [[ ${CI:-false} != false ]]; then
    echo yes
  elif [[ -t 0 && -t 2 ]]; then
    echo ask
  else
    echo no
  fi
}

# may_install WHAT: whether it may be done, asking where the policy says so.
may_install() {
  local answer
  case $(install_policy) in
    yes) return 0 ;;
    ask)
      read -rp "$1? [y/N] " answer
      [[ $answer == [yY]* ]]
      ;;
    *) return 1 ;;
  esac
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=2 -o Acquire::http::Timeout=30 \
    -o Acquire::https::Timeout=30 "$@" >>"$deps/apt.log" 2>&1
}

# Installs the packages of missing, or stops; tries those of absent, each by itself, since a release
# may lack one of them.
install_packages() {
  local package
  local remedy="apt-get install --no-install-recommends ${missing[*]} ${absent[*]}"
  if ((${#missing[@]} > 0)); then
    say "missing: ${missing[*]}$missing_torch"
    have apt-get || stop "there is no apt-get here: install these (named as in Debian) another way"
    may_install "Install these${absent[*]:+ and ${absent[*]}} with apt" ||
      stop "nothing was installed; to do it: sudo $remedy"
  elif [[ $(install_policy) != yes ]] || ! have apt-get; then
    return 0
  fi
  say "installing with apt: ${missing[*]}${missing[*]:+ }${absent[*]}"
  : >"$deps/apt.log"
  apt_get update || say "apt-get update failed; trying with the package lists that are here"
  if ((${#missing[@]} > 0)) && ! apt_get install -y --no-install-recommends "${missing[@]}"; then
    tail -n 15 "$deps/apt.log" >&2
    stop "apt could not install what is missing (whole log: .deps/apt.log); the command was: $remedy"
  fi
  for package in "${absent[@]}"; do
    apt_get install -y --no-install-recommends "$package" || true # set_up says what is still absent
  done
  date +%s.%N >"$deps/installed" # CMake has to look again
}

# What one more package, or one less, could change: the lists, the compiler, the folders, the permission.
setup_key() {
  {
    declare -f find_missing_build find_missing_test find_missing_lint find_missing_deps
    cat cmake/dependencies.cmake
    echo "${CXX:-c++} $PD_DEPS ${CMAKE_PREFIX_PATH:-}"
    [[ $(install_policy) != yes ]] || echo "absent ones are installed"
  } | sha256sum
}

# set_up GROUP [again]: the packages of build, test, lint or deps. Looks only if the last look was another,
# or if told to.
set_up() {
  local group=$1 key package missing=() absent=() missing_torch=""
  local stamp=$deps/$group.stamp
  mkdir -p "$deps"
  key=$(setup_key)
  if [[ ${2:-} != again && -f $stamp && $(<"$stamp") == "$key" ]]; then
    return
  fi
  "find_missing_$group"
  if ((${#missing[@]} + ${#absent[@]} > 0)); then
    install_packages
    missing=() absent=()
    "find_missing_$group"
    ((${#missing[@]} == 0)) || stop "still not usable: ${missing[*]} (is a newer version needed?)"
    for package in "${absent[@]}"; do
      say "not there, and can be done without: $package"
    done
  fi
  printf '%s\n' "$key" >"$stamp"
}

# Fetches libtorch unless some torch will do. Built under another name and renamed when complete, so
# that an interrupted download is never taken for a torch. (A renamed environment's scripts do not
# start, but "bin/python -m NAME" does.)
set_up_torch() {
  local folder size quiet=() incoming=$deps/incoming
  folder=$(torch_folder) # stops when PD_TORCH is wrong
  [[ -z $folder ]] || return 0
  size="146 MB"
  [[ $(uname -m) == aarch64 ]] || size="about 3 GB with its CUDA libraries"
  say "missing: torch >= 2.10 (neither PD_TORCH, nor python3's own, nor one in .deps/)"
  may_install "Download torch $torch_version ($size) into .deps/" ||
    stop "nothing was downloaded; name a torch package by PD_TORCH=DIR, or let ./run setup download it"
  have_venv || set_up build again # python3 changed since the last look
  say "downloading torch $torch_version ($size) and ${torch_wheels[*]:1} into .deps/"
  rm -rf "$incoming"
  python3 -m venv "$incoming"
  [[ -t 2 ]] || quiet=(--quiet) # the progress bar is for a terminal
  "$incoming/bin/python" -m pip install "${quiet[@]}" --disable-pip-version-check "${torch_wheels[@]}" >&2
  "$incoming/bin/python" -c 'import numpy, safetensors, torch, torchvision'
  rm -rf "$torch_home"
  mv "$incoming" "$torch_home"
  say "torch is in ${torch_home#"$root/"}"
}

# Fetches what tests the Python package, and sacrebleu, into the environment that ./run made for torch. One that is not
# ours is left as it is; the tests that lack something are then left out.
set_up_test_wheels() {
  local python=$torch_home/bin/python
  [[ -x $python && $(torch_folder) == "$torch_home"/* ]] || return 0
  ! "$python" -c 'import mypy, pytest, ruff, sacrebleu, scikit_build_core, tensorboard' 2>/dev/null || return 0
  may_install "Download ${test_wheels[*]} (40 MB) into .deps/" || return 0
  say "downloading ${test_wheels[*]} into .deps/"
  "$python" -m pip install --quiet --disable-pip-version-check "${test_wheels[@]}" >&2 ||
    say "they could not be downloaded: the tests of the Python package are left out"
}

# locked COMMAND...: two verbs started at once must not install into each other.
locked() {
  mkdir -p "$deps"
  (
    flock 9
    "$@" 9>&-
  ) 9>"$deps/lock"
}

set_up_build() {
  locked set_up build "$@"
  locked set_up_torch
}
