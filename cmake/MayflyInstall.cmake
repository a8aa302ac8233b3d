# What makes an installed Mayfly found: the CMake package and the files of
# pkg-config. Included last, when every layer is known.
include(CMakePackageConfigHelpers)

# Lowest layer first, as its users name it. mayfly::kafka and mayfly::testing are
# asked for by name.
get_property(layers GLOBAL PROPERTY MAYFLY_LAYERS)
list(REMOVE_ITEM layers kafka testing)
list(JOIN layers " " config_layers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mayfly)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/mayfly-config.cmake.in mayfly-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(mayfly-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mayfly-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/mayfly-config-version.cmake
        DESTINATION ${package_dir})

# Installs <pc_name>.pc with the libraries of these layers, of which each comes
# before the ones that it uses. The names of packages follow from those of
# targets: absl::strings is absl_strings.
function(install_pkg_config pc_name pc_description pc_requires)
  set(pc_libs)
  set(pc_requires_private)
  foreach(layer IN LISTS ARGN)
    string(APPEND pc_libs " -lmayfly_${layer}")
    get_target_property(public mayfly_${layer} INTERFACE_LINK_LIBRARIES)
    get_target_property(all mayfly_${layer} LINK_LIBRARIES)
    foreach(dependency IN LISTS all)
      if(NOT dependency MATCHES "^(absl|protobuf|PkgConfig|RocksDB|zstd)::")
        continue()
      endif()
      string(REPLACE "absl::" "absl_" package ${dependency})
      string(REPLACE "protobuf::libprotobuf" "protobuf" package ${package})
      string(REGEX REPLACE "^RocksDB::.*" "rocksdb" package ${package})
      string(REGEX REPLACE "^zstd::.*" "libzstd" package ${package})
      string(REPLACE "PkgConfig::isal" "libisal" package ${package})
      string(REPLACE "PkgConfig::rdkafka" "rdkafka" package ${package})
      # A static library needs at its user's link what a shared one has in it.
      if(dependency IN_LIST public OR NOT BUILD_SHARED_LIBS)
        list(APPEND pc_requires ${package})
      else()
        list(APPEND pc_requires_private ${package})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES pc_requires)
  list(REMOVE_DUPLICATES pc_requires_private)
  list(JOIN pc_requires ", " pc_requires)
  list(JOIN pc_requires_private ", " pc_requires_private)
  set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH pc_to_prefix /${pc_dir} /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/mayfly.pc.in ${pc_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${pc_name}.pc
          DESTINATION ${pc_dir})
endfunction()

list(REVERSE layers)  # A linker reads users before what they use.
install_pkg_config(mayfly "${PROJECT_DESCRIPTION}" "" ${layers})
install_pkg_config(mayfly-kafka "Mayfly on Apache Kafka" mayfly kafka)
