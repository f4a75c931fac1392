#!/usr/bin/env bash
# Bazel on a Debian 12 machine that reaches only package registries.
#
#   third_party/bazel/debian.sh test           set up, then build and test everything; ends in "N passed, N failed"
#   third_party/bazel/debian.sh run ARGS...    set up, then `bazel ARGS...` on this checkout with --config=debian
#   third_party/bazel/debian.sh setup          set up only
#
# Needs root (it unpacks a Debian system into a folder and enters it by its own mount namespace).
# Everything it makes lies in ${XPROF_ROCTX_BAZEL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/xprof-roctx/bazel}:
# the root of Debian's next release with its Bazel, Bazel's output base and its disk cache.
# Remove that folder to start again; nothing stays mounted or running when a call has ended.
#
# With the whole internet none of this is needed: `bazel test //...` is enough.
set -euo pipefail

readonly release=forky         # the first Debian release that has Bazel 7
readonly bazel_major=7         # testing moves: fail early when it has moved on
readonly rules_rust=0.54.1
readonly recipe=2              # raise it when what `set_up` makes changes: old roots are then made anew

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(cd "$here/../.." && pwd)
cache=${XPROF_ROCTX_BAZEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xprof-roctx/bazel}
jobs=${XPROF_ROCTX_BAZEL_JOBS:-$(nproc)}
root=$cache/root

say() { printf '[bazel] %s\n' "$*" >&2; }
die() { printf '[bazel] error: %s\n' "$*" >&2; exit 1; }

# Runs a command inside the root, the checkout at /src and the cache's `state` folder at /cache.
# The mounts live in a namespace of the command's own and end with it, as does every process it leaves behind.
inside() {
  mkdir -p "$cache/state" "$root/src" "$root/cache"
  unshare --mount --pid --fork --kill-child -- bash -euc '
    root=$1 checkout=$2 state=$3; shift 3
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount --bind "$checkout" "$root/src"
    mount --bind "$state" "$root/cache"
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    cd "$root"
    pivot_root . mnt
    umount -l /mnt
    cd /src
    exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive CARGO_HOME=/cache/cargo "$@"
  ' inside "$root" "$checkout" "$cache/state" "${passed_env[@]}" "$@"
}

# Proxies and retry settings of the caller reach the clients inside.
passed_env=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY CARGO_HTTP_PROXY; do
  if [[ -n ${!name:-} ]]; then passed_env+=("$name=${!name}"); fi
done

# The archive that this machine's apt takes Debian's main packages from.
debian_mirror() {
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "Debian" && $3 == "main" { print $4; exit }'
}

need_debootstrap() {
  if command -v debootstrap >/dev/null && [[ -n $(debian_mirror) ]]; then return; fi
  say "installing debootstrap"
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
}

make_root() {
  need_debootstrap
  local mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || die "apt names no archive of Debian's main packages; look at /etc/apt/sources.list*"
  rm -rf "$root" "$cache/.ready"
  mkdir -p "$root"
  say "unpacking Debian $release from apt's own mirror"
  # Debian 12's debootstrap has no script for $release; sid's serves.
  debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror" \
    /usr/share/debootstrap/scripts/sid >"$cache/debootstrap.log" 2>&1 ||
    die "debootstrap failed; see $cache/debootstrap.log"

  cat >"$root/etc/apt/apt.conf.d/90bazel-root" <<-'CONF'
	APT::Install-Recommends "false";
	Acquire::Check-Valid-Until "false";
	Acquire::Retries "3";
	CONF
  apt-config dump | grep -E '^Acquire::https?::Proxy' >>"$root/etc/apt/apt.conf.d/90bazel-root" || true
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  follow_machine
  inside update-ca-certificates >/dev/null 2>&1

  say "installing Bazel, rules_rust, Rust, a C++ compiler and libclang there"
  inside bash -euc '
    apt-get update -qq
    apt-get install -y -qq bazel-bootstrap bazel-rules-rust rustc cargo g++ python3-minimal libclang-dev \
      libgtest-dev libgmock-dev libbenchmark-dev libabsl-dev libprotobuf-dev protobuf-compiler
    apt-get clean
  ' >"$cache/apt.log" 2>&1 || die "apt-get failed inside the root; see $cache/apt.log"
}

# What the machine says about itself and the network, which can change between two calls.
follow_machine() {
  cat >"$root/root/.bazelrc" <<-CONF
	startup --output_user_root=/cache/output
	common --config=debian
	common --jobs=$jobs
	# After Debian's own \`build --sandbox_debug\`, which a config of \`common\` comes before.
	build --nosandbox_debug
	CONF
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
  fi
  local config
  mkdir -p "$cache/state/cargo"
  for config in config.toml config; do
    if [[ -e ${CARGO_HOME:-$HOME/.cargo}/$config ]]; then
      cp "${CARGO_HOME:-$HOME/.cargo}/$config" "$cache/state/cargo/config.toml"
      break
    fi
  done
}

check_versions() {
  local have
  have=$(inside bazel --version | awk '{ print $2 }')
  [[ $have == "$bazel_major".* ]] || die "Debian $release now has Bazel $have; this script is for $bazel_major.x"
  have=$(inside dpkg-query -W -f '${Version}' bazel-rules-rust)
  [[ $have == "$rules_rust"[+-]* ]] || die "Debian $release now has bazel-rules-rust $have; this script is for $rules_rust"
}

# crate_universe's generator, from the source that rules_rust ships: the registry's program of the same number rejects
# today's Cargo.lock. That source's reader of Cargo.toml is from before edition 2024; its next version knows it.
make_generator() {
  say "building cargo-bazel from bazel-rules-rust's source"
  inside bash -euc '
    rm -rf /tmp/cargo-bazel && cp -r /usr/share/bazel/rules/rust/crate_universe /tmp/cargo-bazel
    cd /tmp/cargo-bazel
    sed -i "s/^cargo_toml = .*/cargo_toml = \"0.21.0\"/" Cargo.toml
    cargo update --quiet --package cargo_toml --precise 0.21.0
    CARGO_TARGET_DIR=/tmp/cargo-bazel/target CARGO_PROFILE_DEV_DEBUG=0 cargo build --quiet --locked --bin cargo-bazel --jobs "$1"
    install -D target/debug/cargo-bazel /opt/bazel/cargo-bazel
    rm -rf /tmp/cargo-bazel
  ' generator "$jobs" >"$cache/cargo-bazel.log" 2>&1 || die "cargo-bazel did not build; see $cache/cargo-bazel.log"

  # It looks for the registry's index under the folder name of an older Cargo.
  mkdir -p "$cache/state/cargo/registry/index"
  ln -sfn index.crates.io-1949cf8c6b5b557f "$cache/state/cargo/registry/index/index.crates.io-6f17d22bba15001f"
}

# Stand-ins at fixed places inside the root, which debian.bazelrc names: modules that Debian does not ship
# and that no target here uses, and Rust's tools as the repository that rules_rust would download.
make_stand_ins() {
  local module dir
  for module in apple_support aspect_rules_js buildozer protobuf zlib; do
    dir=$root/opt/bazel/empty/$module
    mkdir -p "$dir"
    printf 'module(name = "%s", version = "0.0.0")\n' "$module" >"$dir/MODULE.bazel"
    : >"$dir/BUILD.bazel"
  done
  dir=$root/opt/bazel/rust_host_tools
  mkdir -p "$dir/bin"
  ln -sf /usr/bin/cargo /usr/bin/rustc "$dir/bin/"
  : >"$dir/REPO.bazel"
  printf 'exports_files(["bin/cargo", "bin/rustc"])\n' >"$dir/BUILD.bazel"
}

set_up() {
  [[ $(id -u) == 0 ]] || die "run this as root: it enters a Debian system by mount and pivot_root"
  mkdir -p "$cache"
  # One call at a time: they share an output base.
  exec 9>"$cache/.lock"
  flock -n 9 || { say "waiting for another call to end"; flock 9; }
  if [[ $(cat "$cache/.ready" 2>/dev/null) != "$release $recipe" ]]; then
    local started=$SECONDS
    make_root
    check_versions
    make_generator
    make_stand_ins
    echo "$release $recipe" >"$cache/.ready"
    say "set up in $((SECONDS - started)) s at $cache"
  fi
  follow_machine
}

case ${1:-} in
  setup) set_up ;;
  run) shift; set_up; inside bazel "$@" 9>&- ;;
  test) shift; set_up; inside third_party/bazel/test.sh "$@" 9>&- ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
