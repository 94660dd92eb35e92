# Sourced by the scripts: where the checkout is, how many jobs, how ccache finds the objects of another checkout.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
jobs=${JOBS:-$(nproc)}

# Our own sources that git knows or could know, by suffix: `sources cc h`.
sources() {
  local patterns=() suffix
  for suffix in "$@"; do patterns+=("*.$suffix"); done
  git ls-files --cached --others --exclude-standard -- "${patterns[@]}" | while read -r file; do
    [ -e "$file" ] && echo "$file"
  done
}

# configure_and_build PRESET [targets…]
configure_and_build() {
  local preset=$1 targets=() torch
  shift
  torch=$(scripts/torch-dir) || { echo "no LibTorch here: run scripts/bootstrap" >&2; return 1; }
  [ $# -gt 0 ] && targets=(--target "$@")
  TORCH_DIR=$torch cmake --preset "$preset" --log-level=NOTICE
  cmake --build --preset "$preset" -j "$jobs" "${targets[@]}"
}
