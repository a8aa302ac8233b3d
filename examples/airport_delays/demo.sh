#!/usr/bin/env bash
# Runs the job on real flights, and shows what came out and what was held.
#
#   demo.sh [BIN_DIR] [FLAGS]
#
# BIN_DIR is where airport_delays was built, build/release/bin if it is not
# given; FLAGS go to the job.
set -euo pipefail

bin=build/release/bin
if [[ ${1--} != -* ]]; then
  bin=$(cd "$1" && pwd)
  shift
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
job=$bin/airport_delays
[[ " $* " != *" --help "* ]] || exec "$job" --help
[[ " $* " == *" --ttl"* ]] || set -- --ttl=3h "$@"

work=$(dirname "$bin")/demo
rm -rf "$work"
mkdir -p "$work"

# run NAME FLAGS...: a run that leaves its summary in NAME.txt.
run() {
  local name=$1
  shift
  "$job" --input=examples/data/flights-2001q1.ndjson --time=event \
    --output="$work/$name.reports" --state-dir="$work/$name.state" "$@" \
    >"$work/$name.txt"
}

echo "Flights of January to March 2001, through airport_delays $*"
run with-ttl --progress-interval=100ms "$@"
cat "$work/with-ttl.txt"

# One file, or a directory of one per shard.
reports=("$work/with-ttl.reports")
[[ ! -d ${reports[0]} ]] || reports=("${reports[0]}"/part-*)

# The fields of a line, cut at the quotes: 4 is the time, 8 the airport.
awk -F '"' '
  { day = substr($4, 1, 10) }
  day > last { last = day; split("", count); split("", sum) }
  day == last {
    match($0, /"mean_delay":[-0-9.]+/)
    count[$8] += 1
    sum[$8] += substr($0, RSTART + 13, RLENGTH - 13)
  }
  END {
    print "\nThe ten worst airports of the last day, " last ", of those with"
    print "three departures or more, by the mean of what was reported of them:"
    print "\n  airport   departures   mean delay, minutes"
    for (airport in count) {
      if (count[airport] < 3) continue
      printf "  %-7s%13d%22.1f\n", airport, count[airport], \
        sum[airport] / count[airport] | "sort -k3,3nr -k1,1 | head -n 10"
    }
  }' "${reports[@]}"

run without-ttl "$@" --ttl=infinite --progress-interval=24h
awk '
  function number(text) { gsub(/[~,]/, "", text); return text + 0 }
  function row(name, live, bytes, expired, expired_bytes, all, all_bytes) {
    printf "  %-13s%8s%10s%11s%10s%12s%10s\n", name, live, bytes, expired, \
      expired_bytes, all, all_bytes
  }
  FILENAME == ARGV[1] && /^ *state on / { sub(/^ */, ""); held = $0 }
  /^ *(streak|recent|destinations) / {
    for (i = 2; i <= 5; ++i) {
      held_of[FILENAME, $1, i] = number($i)
      held_of[FILENAME, "all", i] += number($i)
    }
    if (FILENAME == ARGV[1]) names[++n] = $1
  }
  END {
    a = ARGV[1]; b = ARGV[2]
    print "\nAt the end, " held ","
    print "and of a run without TTL:\n"
    row("", "live", "bytes", "expired*", "bytes", "no TTL", "bytes")
    names[++n] = "all"
    for (i = 1; i <= n; ++i) {
      name = names[i]
      row(name, held_of[a, name, 2], held_of[a, name, 3], \
          held_of[a, name, 4], held_of[a, name, 5], \
          held_of[b, name, 2], held_of[b, name, 3])
    }
    print "\n* Seen by nobody, and still stored: clean-up takes it away by and by."
  }' "$work/with-ttl.txt" "$work/without-ttl.txt"
