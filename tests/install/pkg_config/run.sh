#!/usr/bin/env bash
# Installs Mayfly's shared libraries and builds a program with nothing but a
# compiler and pkg-config.
#
#   run.sh MAYFLY_SOURCE_FOLDER SCRATCH_FOLDER PROGRAM.cc [CMAKE_FLAG...]
set -euo pipefail
mayfly=$1 scratch=$2 program=$3
shift 3

cmake -S "$mayfly" -B "$scratch/build" -G Ninja "$@" \
  -DBUILD_SHARED_LIBS=ON -DMAYFLY_BUILD_TESTS=OFF -DMAYFLY_BUILD_BENCH=OFF \
  -DMAYFLY_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX="$scratch/prefix" \
  -DCMAKE_INSTALL_LIBDIR=lib --log-level=WARNING
cmake --build "$scratch/build"
cmake --install "$scratch/build" >/dev/null

export PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig
# Flags are words, and pkg-config has escaped what needs it.
# shellcheck disable=SC2046
"${CXX:-c++}" -std=c++20 "$program" -o "$scratch/embedding" \
  $(pkg-config --cflags --libs mayfly) -Wl,-rpath,"$scratch/prefix/lib"
"$scratch/embedding" "$scratch"
