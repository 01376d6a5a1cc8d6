# libtorch from the installed Python package.
#
# The CPU build links only libtorch_cpu and libc10 through an imported target: `find_package(Torch)` of a CUDA wheel
# would ask for a CUDA toolkit, and `import torch` fails where the CUDA packages were left out. The package is therefore
# found with importlib, never imported. The CUDA build uses torch's own CMake package.
if(NOT LENGTHWISE_TORCH)
  # tools/common.sh asks in the same order.
  if(DEFINED ENV{TORCH_PYTHON})
    set(pythons $ENV{TORCH_PYTHON})
  else()
    set(pythons ${PROJECT_SOURCE_DIR}/.venv/bin/python3 python3)
    if(DEFINED ENV{VIRTUAL_ENV})
      list(PREPEND pythons $ENV{VIRTUAL_ENV}/bin/python3)
    endif()
  endif()
  foreach(python IN LISTS pythons)
    execute_process(
      COMMAND ${python} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND found)
      set(LENGTHWISE_TORCH ${found} CACHE PATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
if(NOT EXISTS "${LENGTHWISE_TORCH}/version.py")
  string(JOIN ", " pythons ${pythons})
  message(FATAL_ERROR "no torch package found (asked: ${pythons}; LENGTHWISE_TORCH is '${LENGTHWISE_TORCH}'): run "
                      "`make setup`, or name a Python that has torch 2.11 in TORCH_PYTHON")
endif()

file(STRINGS ${LENGTHWISE_TORCH}/version.py version_lines REGEX "__version__")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+[+a-z0-9]*" LENGTHWISE_TORCH_VERSION "${version_lines}")
if(NOT LENGTHWISE_TORCH_VERSION MATCHES "^2\\.11\\.")
  message(WARNING "Lengthwise is tested with torch 2.11.0; found ${LENGTHWISE_TORCH_VERSION} in ${LENGTHWISE_TORCH}")
endif()

add_library(lengthwise_torch INTERFACE)
target_compile_definitions(lengthwise_torch INTERFACE FMT_HEADER_ONLY=1)  # cmake/dependencies.cmake says why
set(LENGTHWISE_CUDA_VERSION "")
if(LENGTHWISE_CUDA)
  # Here and not inside torch's package, where what it finds about the compiler would be lost.
  set(CMAKE_CUDA_ARCHITECTURES 90a CACHE STRING "GPU architectures of our own kernels")
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that this compiler has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(TORCH_CUDA_ARCH_LIST "9.0a" CACHE STRING "GPU architectures to build for")
  list(PREPEND CMAKE_PREFIX_PATH ${LENGTHWISE_TORCH}/share/cmake)
  find_package(Torch REQUIRED)
  file(GLOB nvidia_libs ${LENGTHWISE_TORCH}/../nvidia/*/lib)
  foreach(dir IN LISTS nvidia_libs)
    add_link_options("LINKER:-rpath-link,${dir}")
  endforeach()
  target_link_libraries(lengthwise_torch INTERFACE ${TORCH_LIBRARIES})
  target_include_directories(lengthwise_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_compile_definitions(lengthwise_torch INTERFACE LENGTHWISE_CUDA=1)
  set(LENGTHWISE_CUDA_VERSION ${CMAKE_CUDA_COMPILER_VERSION})
else()
  target_include_directories(lengthwise_torch SYSTEM INTERFACE
    ${LENGTHWISE_TORCH}/include ${LENGTHWISE_TORCH}/include/torch/csrc/api/include)
  target_link_directories(lengthwise_torch INTERFACE ${LENGTHWISE_TORCH}/lib)
  target_link_libraries(lengthwise_torch INTERFACE torch_cpu c10)
  target_link_options(lengthwise_torch INTERFACE "LINKER:-rpath,${LENGTHWISE_TORCH}/lib")
endif()
