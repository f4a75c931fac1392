#!/usr/bin/env bash
# Builds and tests everything under Bazel, for every platform that nvtx_utils chooses by:
#
#   third_party/bazel/test.sh [BAZEL OPTIONS]
#
# It needs no GPU, ROCm or CUDA: a ROCm tree made of the embedded ROCTX stands in for an installed one.
# It goes on after a failure, and ends in one line, "N passed, N failed": the test targets, and the checks named below.
# Where only package registries are reached, `debian.sh test` runs it.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
options=("$@")
passed=0
failed=0

bazel_() {
  local command=$1
  shift
  bazel "$command" "${options[@]}" "$@"
}

# Not in /tmp: sandboxed actions have one of their own.
output_base=$(bazel_ info output_base 2>/dev/null) || { bazel_ info output_base; exit 1; }
scratch=$(mktemp -d "$output_base/test_sh.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

ok() { passed=$((passed + 1)); printf 'ok: %s\n' "$1"; }
not_ok() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$1"; }

# check WHAT COMMAND...: one more that passed or failed.
check() {
  local what=$1
  shift
  if "$@"; then ok "$what"; else not_ok "$what"; fi
}

# Builds and tests; each test target counts by what Bazel's own record says of it.
run_tests() {
  local what=$1 events=$scratch/events.json status good bad
  shift
  printf '\n== %s\n' "$what"
  bazel_ test --keep_going --build_event_json_file="$events" "$@" -- //...
  status=$?
  good=$(grep -c '"overallStatus":"PASSED"' "$events")
  bad=$(grep '"overallStatus":' "$events" | grep -vc '"overallStatus":"PASSED"')
  passed=$((passed + good))
  failed=$((failed + bad))
  # With no failed test it is something else that did not build.
  if ((bad == 0 && (status != 0 || good == 0))); then
    not_ok "$what: $good tests passed, and bazel test ended with $status"
  fi
}

# closure TARGETS WANTED UNWANTED OPTIONS...: asks Bazel what these targets depend on.
closure() {
  local of=$1 wanted=$2 unwanted=$3 targets
  shift 3
  targets=$(bazel_ cquery "$@" --output=label "filter('^//', deps($of))" 2>"$scratch/stderr") || {
    cat "$scratch/stderr"
    return 1
  }
  grep -Eq "$wanted" <<<"$targets" || { echo "nothing like $wanted is there"; return 1; }
  ! grep -E "$unwanted" <<<"$targets"
}

# refused WORDS... -- OPTIONS...: analysis for ROCm must fail, and its error must say each of the words.
refused() {
  local words=() word
  while [[ $1 != -- ]]; do words+=("$1"); shift; done
  shift
  if bazel_ build --nobuild --config=rocm "$@" //tsl-profiler-lib:nvtx_utils >"$scratch/out" 2>&1; then
    echo "it was analysed"
    return 1
  fi
  for word in "${words[@]}"; do
    grep -Fq -- "$word" "$scratch/out" || { cat "$scratch/out"; echo "not said: $word"; return 1; }
  done
}

# What an installed ROCm has, as far as these targets look at it.
stand_in_rocm() {
  local rocm=$1 library
  mkdir -p "$rocm/include/hip" "$rocm/lib"
  echo '#pragma once' >"$rocm/include/hip/hip_runtime_api.h"
  bazel_ build //rocm-tracer/roctx_sdk_shared || return 1
  library=$(bazel_ cquery --output=files //rocm-tracer/roctx_sdk_shared 2>/dev/null)
  cp "$(bazel_ info execution_root 2>/dev/null)/$library" "$rocm/lib/librocprofiler-sdk-roctx.so.1" &&
    ln -s librocprofiler-sdk-roctx.so.1 "$rocm/lib/librocprofiler-sdk-roctx.so"
}

run_tests 'no GPU'
nvtx_utils=//tsl-profiler-lib:nvtx_utils
# A target's name, and the crate's beneath it.
roctx='roctx_utils_impl|on[-_]roctx|embedded_roctx'
nvtx=':nvtx_utils_impl|/nvtx_utils_impl|on[-_]nvtx'
stub='nvtx_utils_stub_impl|on[-_]stub'
# What the lines depend on that third_party/xla/apply.py puts into a checkout of XLA, and what they are without ROCm.
in_xla='set(//third_party/xla:annotation_stack //third_party/xla:nvtx_utils //third_party/xla:owned_annotation //third_party/xla:session)'
rust='rust|_cc:|rocm-tracer|tsl-profiler-lib'
nothing='third_party/xla:nothing'
check 'no GPU: nvtx_utils is the stub, and nothing of the others is beneath it' closure "$nvtx_utils" "$stub" "$roctx|$nvtx"
check 'XLA without a GPU: nothing is beneath what it depends on' closure "$in_xla" "$nothing" "$rust"

run_tests 'CUDA' --config=cuda
check 'CUDA: nvtx_utils is NVTX, and nothing of the others is beneath it' closure "$nvtx_utils" "$nvtx" "$roctx|$stub" --config=cuda
check 'as XLA asks for CUDA: likewise' closure "$nvtx_utils" "$nvtx" "$roctx|$stub" --define=using_cuda=true
check 'XLA for CUDA: nothing is beneath what it depends on' closure "$in_xla" "$nothing" "$rust" --define=using_cuda=true

rocm=$scratch/rocm
check 'the stand-in for ROCm is made' stand_in_rocm "$rocm"
run_tests 'ROCm (a stand-in)' --config=rocm --repo_env=ROCM_PATH="$rocm"
check 'ROCm: nvtx_utils is ROCTX, and nothing of the others is beneath it' \
  closure "$nvtx_utils" "$roctx" "$stub|$nvtx" --config=rocm --repo_env=ROCM_PATH="$rocm"
check 'as XLA asks for ROCm: likewise' \
  closure "$nvtx_utils" "$roctx" "$stub|$nvtx" --define=using_rocm=true --repo_env=ROCM_PATH="$rocm"
check 'XLA for ROCm: what it depends on is here, and no other implementation' \
  closure "$in_xla" "$roctx" "$stub|$nvtx|$nothing" --define=using_rocm_hipcc=true --repo_env=ROCM_PATH="$rocm"
check 'XLA for ROCm with these targets switched off: nothing is beneath what it depends on' \
  closure "$in_xla" "$nothing" "$rust" --define=using_rocm_hipcc=true --//third_party/xla:enabled=False \
  --repo_env=ROCM_PATH="$rocm"

if [[ ! -e /opt/rocm ]]; then
  check 'ROCm is not there: an error that says where it was looked for' \
    refused 'no ROCm was found' "$scratch/none" '$ROCM_PATH' /opt/rocm -- --repo_env=ROCM_PATH="$scratch/none"
fi
rm "$rocm"/lib/librocprofiler-sdk-roctx.so*
check 'ROCm without its ROCTX: an error that says what is missing and where' \
  refused 'has no ROCTX' "$rocm" librocprofiler-sdk-roctx.so 'package rocprofiler-sdk-roctx' -- --repo_env=ROCM_PATH="$rocm"

printf '\n%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
