# The helpers that each folder's CMakeLists.txt is written with.

# One library per layer.
#
#   mayfly_library(serde
#     SOURCES list_codec.cc          # and internal headers, if you like
#     HEADERS mayfly/serde/timestamp.h   # public ones, relative to include/
#     PUBLIC_DEPS absl::status
#     PRIVATE_DEPS mayfly::proto absl::strings)
#
# makes mayfly_serde, alias mayfly::serde, with its install rules.
function(mayfly_library layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
                        "SOURCES;HEADERS;PUBLIC_DEPS;PRIVATE_DEPS")
  set(target mayfly_${layer})
  list(TRANSFORM arg_HEADERS PREPEND include/)

  add_library(${target} ${arg_SOURCES})
  add_library(mayfly::${layer} ALIAS ${target})
  target_sources(
    ${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(
    ${target}
    PUBLIC ${arg_PUBLIC_DEPS}
    PRIVATE $<BUILD_INTERFACE:mayfly_flags> ${arg_PRIVATE_DEPS})
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${layer}
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
               POSITION_INDEPENDENT_CODE ON
               # Static and shared objects are the same to ccache without it.
               DEFINE_SYMBOL ""
               INSTALL_RPATH $ORIGIN
               VERIFY_INTERFACE_HEADER_SETS ON)

  set_property(GLOBAL APPEND PROPERTY MAYFLY_LAYERS ${layer})
  if(MAYFLY_INSTALL)
    install(
      TARGETS ${target}
      EXPORT mayfly-${layer} FILE_SET HEADERS
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(
      EXPORT mayfly-${layer}
      NAMESPACE mayfly::
      FILE mayfly-${layer}-targets.cmake
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mayfly)
  endif()
endfunction()

# Where the broker of the tests labelled `kafka` is while they run.
set(MAYFLY_KAFKA_DIRECTORY ${PROJECT_BINARY_DIR}/tests/kafka/shared)

# An ordinary GoogleTest program, one ctest test for each TEST in it, named
# <name>.<Suite>.<Test>. All bear the labels of LABELS, and `unit` but for those
# labelled `e2e` or `kafka`; a test that starts threads says LABELS threads, and
# runs under the thread sanitizer. One that needs a broker says LABELS kafka; it
# finds it by MAYFLY_KAFKA_DIRECTORY, and has it for itself while it runs.
#
#   mayfly_test(timestamp_test SOURCES timestamp_test.cc DEPS mayfly::serde)
function(mayfly_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  _mayfly_test_program(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS}
                       GTest::gmock GTest::gtest_main)
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(mayfly_threads_tests ${name})
  endif()
  gtest_discover_tests(
    ${name}
    TEST_PREFIX ${name}.
    NO_PRETTY_TYPES  # Long, and values may print addresses.
    NO_PRETTY_VALUES
    TEST_LIST ${name}_tests
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
  # gtest_discover_tests flattens a list of several labels; so ctest sets them
  # when it has loaded the tests.
  if(NOT arg_LABELS MATCHES "e2e|kafka")
    list(PREPEND arg_LABELS unit)
  endif()
  set(properties "LABELS \"${arg_LABELS}\"")
  if("kafka" IN_LIST arg_LABELS)
    string(APPEND properties " FIXTURES_REQUIRED kafka RESOURCE_LOCK kafka "
           "ENVIRONMENT \"MAYFLY_KAFKA_DIRECTORY=${MAYFLY_KAFKA_DIRECTORY}\"")
  endif()
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${labels_file} "
    if(${name}_tests)
      set_tests_properties(\${${name}_tests} PROPERTIES ${properties})
    endif()")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()

# A program around LLVMFuzzerTestOneInput. As a test it replays the files of
# CORPUS and some thousand mutations of them, the same in every run; with
# MAYFLY_LIBFUZZER it is a libFuzzer program to be run for as long as you like.
#
#   mayfly_fuzz_test(list_fuzz SOURCES list_fuzz.cc DEPS mayfly::serde
#                    CORPUS corpus/list)
function(mayfly_fuzz_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;DEPS")
  cmake_path(ABSOLUTE_PATH arg_CORPUS)
  _mayfly_test_program(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS})
  add_dependencies(mayfly_fuzz_tests ${name})
  if(MAYFLY_LIBFUZZER)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    # What it discovers goes to the first folder, not into the sources.
    set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}_found)
    file(MAKE_DIRECTORY ${found})
    set(arguments -runs=20000 -seed=1 ${found})
  else()
    target_sources(${name}
                   PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    set(arguments --mutations=20000 --seed=1)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arguments} ${arg_CORPUS})
  set_tests_properties(
    ${name}
    PROPERTIES LABELS fuzz
               TIMEOUT 300
               # An abort, so that replay_main.cc saves the input.
               ENVIRONMENT "ASAN_OPTIONS=abort_on_error=1;\
UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1")
endfunction()

# Misuse that must not compile. SOURCE is compiled twice: as it is, which must
# succeed, and with MAYFLY_EXPECT_COMPILE_ERROR defined, which must fail with a
# message that matches the regular expression ERROR. The first of the two shows
# that nothing but the guarded lines is wrong.
#
#   mayfly_compile_fail_test(unchecked_config SOURCE unchecked_config.cc
#                            ERROR "private" DEPS mayfly::state)
function(mayfly_compile_fail_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;ERROR" "DEPS")
  if(NOT arg_ERROR)
    message(FATAL_ERROR "${name}: say with ERROR what the compiler must say")
  endif()
  # Carries the flags; what compiles the twins is the tests.
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${arg_SOURCE})
  target_link_libraries(${name} PRIVATE mayfly_flags ${arg_DEPS})
  set(includes $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
  set(compile
      ${CMAKE_CXX_COMPILER} ${CMAKE_CXX20_STANDARD_COMPILE_OPTION}
      -fsyntax-only -I$<JOIN:${includes},$<SEMICOLON>-I>
      ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE})
  add_test(NAME ${name}.accepted COMMAND ${compile} COMMAND_EXPAND_LISTS)
  add_test(NAME ${name}.rejected
           COMMAND ${compile} -DMAYFLY_EXPECT_COMPILE_ERROR
           COMMAND_EXPAND_LISTS)
  set_tests_properties(${name}.rejected PROPERTIES PASS_REGULAR_EXPRESSION
                                                   "error: [^\n]*${arg_ERROR}")
  set_tests_properties(${name}.accepted ${name}.rejected PROPERTIES
                       LABELS compile TIMEOUT 120)
endfunction()

# What all test programs have in common. They stay out of bin/, which is for
# programs that people run.
function(_mayfly_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE mayfly_flags ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
