#!/usr/bin/env bash
# Runs the benchmarks and prints how Mayfly compares; see README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'TEXT'
usage: bench/run.sh [FLAGS]

  --quick         small sizes, about a minute; ratios are not to be trusted
  --full          the largest sizes, for a machine that has the night
  --filter REGEX  only workloads whose name matches, e.g. '^rocksdb/value'
  --list          names the workloads
  --bin DIR       where the programs lie; build/release/bin by default
TEXT
}

scale=default filter=. list=false bin=$here/../build/release/bin
while (($#)); do
  case $1 in
    --quick) scale=quick ;;
    --full) scale=full ;;
    --filter) filter=${2:?--filter needs a regular expression} && shift ;;
    --list) list=true ;;
    --bin) bin=${2:?--bin needs a directory} && shift ;;
    --help | -h) usage && exit ;;
    *)
      echo "bench/run.sh: there is no flag '$1'" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift
done

# Benchmarks are named <workload>/<contender>/iterations:...
mapfile -t workloads < <(
  "$bin/mayfly_bench" --scale=$scale --benchmark_list_tests |
    sed -E 's,/[^/]+/iterations:.*,,' | uniq | { grep -E -- "$filter" || true; }
)
if ((${#workloads[@]} == 0)); then
  echo "bench/run.sh: no workload matches '$filter'; try --list" >&2
  exit 1
fi
if $list; then
  printf '%s\n' "${workloads[@]}"
  exit
fi

# Reports, and databases of a run that is interrupted.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
files=()
for i in "${!workloads[@]}"; do
  started=$SECONDS
  printf '[%d/%d] %s' $((i + 1)) ${#workloads[@]} "${workloads[i]}" >&2
  files+=("$scratch/$i.json")
  "$bin/mayfly_bench" --scale=$scale \
    --benchmark_filter="^${workloads[i]}/[^/]+/iterations:" \
    --benchmark_enable_random_interleaving=true \
    --benchmark_out="${files[i]}" >"$scratch/log" 2>&1 || {
    printf '\n' >&2
    tail -n 5 "$scratch/log" >&2
    exit 1
  }
  printf ' %d s\n' $((SECONDS - started)) >&2
done

suffix=
[[ $scale == default ]] || suffix=-$scale
[[ $filter == . ]] || suffix+=-part
result=$here/results/$(date +%F)-$(hostname)$suffix.json
mkdir -p "${result%/*}"
"$bin/mayfly_bench_table" "$result" "${files[@]}"
echo "written to $result"
