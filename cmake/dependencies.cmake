# Every library besides torch. Headers are looked for in the system and in .deps/include (`make deps-headers` fills it),
# so that a machine where nothing can be installed needs no more than a copied folder.
set(LENGTHWISE_DEPS ${PROJECT_SOURCE_DIR}/.deps/include)

# lengthwise_headers(PACKAGE TARGET HEADER DEBIAN_PACKAGE)
#
# A library used through its headers alone: its own CMake package where it brings one, otherwise the folder of HEADER.
function(lengthwise_headers package target header debian)
  find_package(${package} QUIET)
  if(NOT TARGET ${target})
    find_path(LENGTHWISE_${package}_INCLUDE ${header} HINTS ${LENGTHWISE_DEPS})
    if(NOT LENGTHWISE_${package}_INCLUDE)
      message(FATAL_ERROR "${header} was not found: run `make setup`, install ${debian}, or copy the header's folder "
                          "into .deps/include")
    endif()
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${LENGTHWISE_${package}_INCLUDE})
  endif()
endfunction()

lengthwise_headers(CLI11 CLI11::CLI11 CLI/CLI.hpp libcli11-dev)
lengthwise_headers(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json.hpp nlohmann-json3-dev)

# torch brings headers of another version of fmt, which win in every source that includes torch. There fmt is compiled
# into each source (FMT_HEADER_ONLY comes with lengthwise_torch), so that no libfmt has to match torch's headers. All
# other sources use the system's compiled fmt, which halves the time they take to compile; its symbols have another
# version in their names, so both live side by side.
lengthwise_headers(fmt fmt::fmt-header-only fmt/format.h libfmt-dev)
add_library(lengthwise_fmt INTERFACE)
if(TARGET fmt::fmt)
  target_link_libraries(lengthwise_fmt INTERFACE fmt::fmt)
else()
  set_property(TARGET fmt::fmt-header-only PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
  target_link_libraries(lengthwise_fmt INTERFACE fmt::fmt-header-only)
endif()

add_library(lengthwise_toml INTERFACE)
find_path(LENGTHWISE_TOML_INCLUDE toml++/toml.h HINTS ${LENGTHWISE_TOMLPLUSPLUS} ${LENGTHWISE_DEPS})
if(NOT LENGTHWISE_TOML_INCLUDE)
  message(FATAL_ERROR "toml++/toml.h was not found: run `make setup`, install libtomlplusplus-dev, or name the folder "
                      "that holds toml++/toml.h with -DLENGTHWISE_TOMLPLUSPLUS=DIR")
endif()
target_include_directories(lengthwise_toml SYSTEM INTERFACE ${LENGTHWISE_TOML_INCLUDE})
target_compile_definitions(lengthwise_toml INTERFACE TOML_HEADER_ONLY=1)

find_package(Threads REQUIRED)

# Without these the build goes on: packed files of text are refused, and so are subwords. Only the sources that call
# them are told that they are there.
set(lengthwise_text_libraries "")
set(lengthwise_text_definitions "")
find_package(LibLZMA QUIET)
if(LibLZMA_FOUND)
  list(APPEND lengthwise_text_libraries ${LIBLZMA_LIBRARIES})
  list(APPEND lengthwise_text_definitions LENGTHWISE_LZMA)
endif()
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  list(APPEND lengthwise_text_libraries ${ZLIB_LIBRARIES})
  list(APPEND lengthwise_text_definitions LENGTHWISE_ZLIB)
endif()
find_path(LENGTHWISE_SENTENCEPIECE_INCLUDE sentencepiece_trainer.h)
find_library(LENGTHWISE_SENTENCEPIECE_LIBRARY sentencepiece)
find_library(LENGTHWISE_SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
if(LENGTHWISE_SENTENCEPIECE_INCLUDE AND LENGTHWISE_SENTENCEPIECE_LIBRARY AND LENGTHWISE_SENTENCEPIECE_TRAIN_LIBRARY)
  list(APPEND lengthwise_text_libraries ${LENGTHWISE_SENTENCEPIECE_TRAIN_LIBRARY} ${LENGTHWISE_SENTENCEPIECE_LIBRARY})
  list(APPEND lengthwise_text_definitions LENGTHWISE_SENTENCEPIECE)
endif()

# Without these the build goes on: no tests, no property tests, no micro-benchmarks.
find_package(GTest QUIET)
if(NOT GTest_FOUND AND EXISTS /usr/src/googletest/CMakeLists.txt)
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  foreach(library gtest gtest_main)
    if(NOT TARGET GTest::${library})
      add_library(GTest::${library} ALIAS ${library})
    endif()
  endforeach()
  set(GTest_FOUND TRUE)
endif()
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)
