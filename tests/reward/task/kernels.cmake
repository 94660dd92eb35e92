# Compiles the honest kernels and all mutants as a compile box would: with g++, whatever compiles the project, and after
# the rendered header. Sets TOUCHSTONE_KERNELS to the folder that holds them and the list of their names.
find_program(TOUCHSTONE_GXX g++ REQUIRED)
set(TOUCHSTONE_KERNELS ${PROJECT_BINARY_DIR}/kernels)
file(MAKE_DIRECTORY ${TOUCHSTONE_KERNELS})
set(kernel_flags -std=c++20 -O3 -fPIC -shared -fvisibility=hidden -Wl,-z,defs)
file(READ /proc/cpuinfo cpuinfo)
if(cpuinfo MATCHES " avx2 ")
  list(APPEND kernel_flags -march=x86-64-v3)
endif()
add_executable(render_header render_header.cc)
target_link_libraries(render_header PRIVATE
  touchstone_build_interface touchstone_sanitize_interface touchstone::task)

set(kernels)
set(names "")
# add_kernel(NAME SOURCE TASK flags…)
function(add_kernel name source task)
  set(library ${TOUCHSTONE_KERNELS}/${name}.so)
  set(header ${TOUCHSTONE_KERNELS}/${task}.h)
  add_custom_command(OUTPUT ${library}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TOUCHSTONE_GXX} ${kernel_flags} ${ARGN} -include ${header} ${source}
      -o ${library}
    DEPENDS ${source} ${header} COMMENT "Kernel ${name}" VERBATIM)
  set(kernels ${kernels} ${library} PARENT_SCOPE)
  set(names "${names}${name} ${task}\n" PARENT_SCOPE)
endfunction()

file(GLOB tasks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/tasks/*.yaml)
foreach(yaml ${tasks})
  get_filename_component(task ${yaml} NAME_WE)
  add_custom_command(OUTPUT ${TOUCHSTONE_KERNELS}/${task}.h
    COMMAND render_header ${yaml} ${TOUCHSTONE_KERNELS}/${task}.h
    DEPENDS render_header ${yaml} VERBATIM)
endforeach()
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/honest/*.cc)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fast$" "" task ${name})
  add_kernel(honest/${name} ${source} ${task})
endforeach()
# A mutant is its task's source with one MUTANT_… defined; without one the source is right.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/hostile/mutants/*.cc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
foreach(source ${sources})
  get_filename_component(task ${source} NAME_WE)
  add_kernel(control/${task} ${source} ${task})
  file(READ ${source} text)
  string(REGEX MATCHALL "MUTANT_[a-z0-9_]+" mutants "${text}")
  list(REMOVE_DUPLICATES mutants)
  foreach(mutant ${mutants})
    string(REPLACE "MUTANT_" "" short ${mutant})
    add_kernel(mutant/${task}__${short} ${source} ${task} -D${mutant})
  endforeach()
endforeach()
file(MAKE_DIRECTORY ${TOUCHSTONE_KERNELS}/honest ${TOUCHSTONE_KERNELS}/control ${TOUCHSTONE_KERNELS}/mutant)
file(CONFIGURE OUTPUT ${TOUCHSTONE_KERNELS}/list.txt CONTENT "${names}" @ONLY)
add_custom_target(kernels DEPENDS ${kernels})
