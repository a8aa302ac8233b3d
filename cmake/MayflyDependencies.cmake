# What the libraries link. Everything comes from the system: nothing is fetched.

# Finds `package` or stops with the name of the Debian package that has it.
macro(mayfly_require package debian_package)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(
      FATAL_ERROR
        "Mayfly needs ${package}: apt-get install ${debian_package}, or set "
        "CMAKE_PREFIX_PATH to where it is installed.")
  endif()
endmacro()

mayfly_require(Threads libc6-dev)
mayfly_require(absl libabsl-dev)
mayfly_require(Protobuf "libprotobuf-dev protobuf-compiler")
mayfly_require(RocksDB librocksdb-dev)
mayfly_require(zstd libzstd-dev CONFIG)
mayfly_require(PkgConfig pkg-config)
pkg_check_modules(isal QUIET IMPORTED_TARGET libisal)
if(NOT isal_FOUND)
  message(FATAL_ERROR "Mayfly needs ISA-L: apt-get install libisal-dev")
endif()
pkg_check_modules(rdkafka QUIET IMPORTED_TARGET rdkafka>=2.0)
if(NOT rdkafka_FOUND)
  message(FATAL_ERROR "Mayfly needs librdkafka 2: apt-get install librdkafka-dev")
endif()
# For mayfly::testing, which is there if GoogleMock is.
if(MAYFLY_BUILD_TESTS)
  mayfly_require(GTest "libgtest-dev libgmock-dev")
else()
  find_package(GTest QUIET)
endif()

# Programs are a fifth faster with RocksDB linked statically. Shared libraries
# of ours must not each carry a copy of it, so they take the shared one.
set(_shared OFF)
if(BUILD_SHARED_LIBS OR NOT TARGET RocksDB::rocksdb)
  set(_shared ON)
endif()
option(MAYFLY_ROCKSDB_SHARED "Link the shared library of RocksDB" ${_shared})
unset(_shared)
if(MAYFLY_ROCKSDB_SHARED)
  set(MAYFLY_ROCKSDB_TARGET RocksDB::rocksdb-shared)
else()
  set(MAYFLY_ROCKSDB_TARGET RocksDB::rocksdb)
endif()
if(NOT TARGET ${MAYFLY_ROCKSDB_TARGET})
  message(FATAL_ERROR "RocksDB was found, but it has no ${MAYFLY_ROCKSDB_TARGET}: "
                      "turn MAYFLY_ROCKSDB_SHARED the other way.")
endif()
