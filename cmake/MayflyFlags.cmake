# mayfly_flags: how we compile our own code. Never exported, so that nobody who
# uses Mayfly inherits a warning or a sanitizer.
add_library(mayfly_flags INTERFACE)

# Here too, not only on the libraries: a test that links none of them must not
# fall back to the compiler's default standard (C++14 for clang 14).
target_compile_features(mayfly_flags INTERFACE cxx_std_20)

# What -Wextra adds for {.shards = 2} is left out: a struct of settings is meant
# to be initialised in part.
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(
    mayfly_flags
    INTERFACE -Wall
              -Wextra
              -Wshadow
              -Wconversion
              -Wno-sign-conversion
              -Wno-missing-field-initializers
              $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
endif()

if(MAYFLY_SANITIZE STREQUAL "address")
  set(_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(MAYFLY_SANITIZE STREQUAL "thread")
  set(_sanitizers -fsanitize=thread)
elseif(NOT MAYFLY_SANITIZE STREQUAL "")
  message(FATAL_ERROR "MAYFLY_SANITIZE is '${MAYFLY_SANITIZE}': "
                      "give address, thread or nothing.")
endif()
if(MAYFLY_SANITIZE)
  target_compile_options(mayfly_flags INTERFACE ${_sanitizers}
                                                -fno-omit-frame-pointer)
  target_link_options(mayfly_flags INTERFACE ${_sanitizers})
  unset(_sanitizers)
endif()

if(MAYFLY_LIBFUZZER)  # So that it sees which branches of ours an input takes.
  target_compile_options(mayfly_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(mayfly_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# A launcher that is set, even to nothing, stays.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(MAYFLY_CCACHE ccache)
  mark_as_advanced(MAYFLY_CCACHE)
  if(MAYFLY_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${MAYFLY_CCACHE})
  endif()
endif()
