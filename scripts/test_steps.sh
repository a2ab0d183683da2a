# Sourced by ./run: the steps of ./run test, announced, timed and summed up at the end.
# shellcheck shell=bash

step_names=() step_notes=() step_now=""

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# step NAME COMMAND...: announces, runs and times it. The script ends at the first that fails.
step() {
  local begin=$SECONDS
  step_now=$1 step_note=""
  say "== $1 (at $(minutes "$begin"))"
  "${@:2}"
  step_names+=("$1")
  step_notes+=("$(minutes $((SECONDS - begin)))$step_note")
  step_now=""
}

# Called by a step that cannot be done here.
skip() {
  step_note="  skipped: $1"
  say "skipped: $1"
}

report_steps() {
  local status=$? i
  say ""
  for i in "${!step_names[@]}"; do
    say "$(printf '%-24s %s' "${step_names[i]}" "${step_notes[i]}")"
  done
  [[ -z $step_now ]] || say "$(printf '%-24s FAILED' "$step_now")"
  say "$(printf '%-24s %s' total "$(minutes $SECONDS)")"
  exit $status
}

# Tracked sources and new ones that git does not ignore; by name where this is no git checkout.
list_sources() {
  local file
  {
    git ls-files --cached --others --exclude-standard '*.h' '*.cpp' 2>/dev/null ||
      find . \( -path ./build -o -path './.*' \) -prune -o \( -name '*.h' -o -name '*.cpp' \) -print
  } | while IFS= read -r file; do
    [[ ! -f $file ]] || printf '%s\0' "$file" # git also lists files just deleted
  done
}

check_format() {
  local tool
  if tool=$(find_clang_format); then
    list_sources | xargs -0 --no-run-if-empty "$tool" --dry-run --Werror ||
      stop "the files above are not formatted: ./run format does it"
  else
    skip "clang-format 14 is not there"
  fi
}

# test_sanitized PRESET
test_sanitized() {
  local plain=()
  # ThreadSanitizer cannot place its shadow memory where the kernel randomises addresses by too many bits.
  if setarch --addr-no-randomize true 2>/dev/null; then plain=(setarch --addr-no-randomize); fi
  "${plain[@]}" ctest --preset "$1" --parallel "$(nproc)"
}

test_fuzz() {
  if have_fuzzer; then
    build fuzz
    ctest --preset fuzz --label-regex '^fuzz$'
  else
    skip "clang++ with libFuzzer is not there"
  fi
}

set_up_test() {
  set_up_build
  locked set_up test
  locked set_up_test_wheels
}

test_everything() {
  trap report_steps EXIT
  step "set-up" set_up_test
  step "formatting" check_format
  step "release build" build release
  step "release tests" ctest --preset release
  step "asan build" build asan
  step "asan tests" test_sanitized asan
  step "tsan build" build tsan
  step "tsan tests" test_sanitized tsan
  step "fuzzing" test_fuzz
}
