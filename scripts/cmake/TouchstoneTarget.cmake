# How every target of the project is built: language level, warnings, sanitizers. Nothing is set globally but the
# places of the outputs, so that a dependency's own flags stay its own.
option(TOUCHSTONE_BUILD_TESTS "Build the tests" ON)
option(TOUCHSTONE_WERROR "Warnings are errors" ON)
set(TOUCHSTONE_SANITIZE "" CACHE STRING "Sanitizers for our own code, for example address,undefined or thread")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(touchstone_build_interface INTERFACE)
target_compile_features(touchstone_build_interface INTERFACE cxx_std_20)
target_include_directories(touchstone_build_interface INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(touchstone_build_interface INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -fvisibility=hidden
  $<$<BOOL:${TOUCHSTONE_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)

add_library(touchstone_sanitize_interface INTERFACE)
if(TOUCHSTONE_SANITIZE)
  target_compile_options(touchstone_sanitize_interface INTERFACE
    -fsanitize=${TOUCHSTONE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(touchstone_sanitize_interface INTERFACE -fsanitize=${TOUCHSTONE_SANITIZE})
endif()

# touchstone_library(NAME SOURCES… [PUBLIC libs…] [PRIVATE libs…]): a component, with the alias touchstone::NAME.
function(touchstone_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(touchstone_${name} STATIC ${ARG_SOURCES})
  add_library(touchstone::${name} ALIAS touchstone_${name})
  target_link_libraries(touchstone_${name}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE touchstone_build_interface touchstone_sanitize_interface ${ARG_PRIVATE})
  target_include_directories(touchstone_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  set_target_properties(touchstone_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# All programs without the tests: what a user needs.
add_custom_target(programs)

# touchstone_program(NAME SOURCES… [PRIVATE libs…] [PLAIN]): an executable in build/bin. PLAIN programs run inside a
# box and are built without sanitizers: their shadow memory does not fit into the box's limits.
function(touchstone_program name)
  cmake_parse_arguments(ARG "PLAIN" "" "SOURCES;PRIVATE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  add_dependencies(programs ${name})
  target_link_libraries(${name} PRIVATE touchstone_build_interface ${ARG_PRIVATE})
  if(NOT ARG_PLAIN)
    target_link_libraries(${name} PRIVATE touchstone_sanitize_interface)
  endif()
endfunction()

# touchstone_test(NAME SOURCES… [PRIVATE libs…] [LABELS …] [ENVIRONMENT …] [SERIAL]): one GoogleTest program, each of
# its tests known to ctest by name. SERIAL tests never run beside another one.
function(touchstone_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT" "SOURCES;PRIVATE;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE touchstone_build_interface touchstone_sanitize_interface ${ARG_PRIVATE}
    GTest::gtest GTest::gmock GTest::gtest_main Threads::Threads)
  set(properties TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LABELS)
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
  if(ARG_SERIAL)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
