# LibTorch for the CPU, as the imported target touchstone::torch_cpu. Only the reference runner links it.
#
# PyTorch's own package file also asks for CUDA as soon as the wheel was built with it; the runner needs no more than
# two libraries and the headers, so they are named here. TORCH_DIR is the folder that holds include/ and lib/; where it
# is unset, scripts/torch-dir says where to look.
set(TORCH_DIR "$ENV{TORCH_DIR}" CACHE PATH "Folder of LibTorch (with include/ and lib/)")
if(NOT EXISTS ${TORCH_DIR}/lib/libtorch_cpu.so)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/torch-dir OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT found)
    message(FATAL_ERROR "LibTorch was not found (TORCH_DIR='${TORCH_DIR}'): run scripts/bootstrap, or set TORCH_DIR to "
      "the folder with include/ and lib/ of a PyTorch of 2.7 or later. scripts/torch-dir --why tells more.")
  endif()
  set(TORCH_DIR ${found} CACHE PATH "Folder of LibTorch (with include/ and lib/)" FORCE)
endif()
# Libraries that libtorch_cpu.so itself wants, from the CUDA toolkit or from the wheels beside it.
file(GLOB TOUCHSTONE_TORCH_NEEDS LIST_DIRECTORIES true ${TORCH_DIR}/../nvidia/*/lib ${TORCH_DIR}/../nvidia/lib)
foreach(dir /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib)
  if(EXISTS ${dir})
    list(APPEND TOUCHSTONE_TORCH_NEEDS ${dir})
  endif()
endforeach()
set(TOUCHSTONE_TORCH_LIBRARY_PATH ${TORCH_DIR}/lib ${TOUCHSTONE_TORCH_NEEDS})

add_library(touchstone_torch_cpu INTERFACE)
add_library(touchstone::torch_cpu ALIAS touchstone_torch_cpu)
target_include_directories(touchstone_torch_cpu SYSTEM INTERFACE
  ${TORCH_DIR}/include ${TORCH_DIR}/include/torch/csrc/api/include)
target_link_libraries(touchstone_torch_cpu INTERFACE ${TORCH_DIR}/lib/libtorch_cpu.so ${TORCH_DIR}/lib/libc10.so)
list(JOIN TOUCHSTONE_TORCH_LIBRARY_PATH ":" TOUCHSTONE_TORCH_RPATH)
target_link_options(touchstone_torch_cpu INTERFACE
  "LINKER:-rpath,${TOUCHSTONE_TORCH_RPATH}" "LINKER:--allow-shlib-undefined" "LINKER:--disable-new-dtags")
