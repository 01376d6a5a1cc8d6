# lengthwise_library(NAME [DEPENDS folder...] [TORCH] [CUDA] [WITHOUT_CUDA file.cc [ALWAYS file.cc...]] [PCH target]
#                    [LINK target...])
#
# One static library per folder of src/, made of every *.cc in it. CUDA adds every *.cu; such a folder is built only with
# LENGTHWISE_CUDA=ON. WITHOUT_CUDA names the one file that stands for the folder in a build without CUDA, and is left
# out of one with it; ALWAYS names files that are part of both. DEPENDS is the only place that says which folder may
# include which: it becomes the link edges, and is written to layers.txt, which tests/core/layering_test.cc holds
# against the #include lines.
set_property(GLOBAL PROPERTY lengthwise_layers "")

# Precompiled headers, made once and reused: what nearly every source includes, without and with torch's tensors.
set(common_headers <fmt/format.h> <nlohmann/json.hpp> <algorithm> <filesystem> <functional> <map> <memory> <string> <vector>)
add_library(lengthwise_plain_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(lengthwise_plain_pch PRIVATE lengthwise_warnings PUBLIC lengthwise_fmt nlohmann_json::nlohmann_json)
target_precompile_headers(lengthwise_plain_pch PRIVATE ${common_headers})
add_library(lengthwise_torch_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(lengthwise_torch_pch PRIVATE lengthwise_warnings PUBLIC lengthwise_torch lengthwise_fmt
  nlohmann_json::nlohmann_json)
# What works with tensors leaves the work to torch and to the kernels, which ask for -O3 themselves: more than -O1 would
# only lengthen the build.
target_compile_options(lengthwise_torch_pch PRIVATE -O1)
target_precompile_headers(lengthwise_torch_pch PRIVATE <ATen/ATen.h> ${common_headers})

# The command line's sources all include CLI11, which takes longer than the rest of them.
add_library(lengthwise_cli_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(lengthwise_cli_pch PRIVATE lengthwise_warnings CLI11::CLI11 PUBLIC lengthwise_torch lengthwise_fmt
  nlohmann_json::nlohmann_json)
target_compile_options(lengthwise_cli_pch PRIVATE -O1)
target_precompile_headers(lengthwise_cli_pch PRIVATE <ATen/ATen.h> <CLI/CLI.hpp> ${common_headers})

function(lengthwise_library name)
  cmake_parse_arguments(arg "TORCH;CUDA" "WITHOUT_CUDA;PCH" "ALWAYS;DEPENDS;LINK" ${ARGN})
  string(JOIN " " edges ${name} ${arg_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY lengthwise_layers "${edges}")
  if(arg_CUDA AND NOT LENGTHWISE_CUDA)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  if(arg_WITHOUT_CUDA)
    set(stand_in ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${arg_WITHOUT_CUDA})
    if(LENGTHWISE_CUDA)
      list(REMOVE_ITEM sources ${stand_in})
    else()
      set(sources ${stand_in})
      foreach(file IN LISTS arg_ALWAYS)
        list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${file})
      endforeach()
    endif()
  endif()
  if(arg_CUDA)
    file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cu)
    list(APPEND sources ${kernels})
  endif()
  set(target lengthwise_${name})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${target} PRIVATE lengthwise_warnings PUBLIC lengthwise_fmt ${arg_LINK})
  foreach(dependency IN LISTS arg_DEPENDS)
    if(TARGET lengthwise_${dependency})
      target_link_libraries(${target} PUBLIC lengthwise_${dependency})
    endif()
  endforeach()
  if(arg_TORCH)
    target_link_libraries(${target} PUBLIC lengthwise_torch)
    target_compile_options(${target} PRIVATE -O1)
    if(NOT arg_PCH)
      set(arg_PCH lengthwise_torch_pch)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${arg_PCH})
  else()
    target_precompile_headers(${target} REUSE_FROM lengthwise_plain_pch)
  endif()
endfunction()

# Call once, after the last lengthwise_library().
function(lengthwise_write_layers)
  get_property(layers GLOBAL PROPERTY lengthwise_layers)
  string(JOIN "\n" text ${layers})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/layers.txt CONTENT "${text}\n")
endfunction()
