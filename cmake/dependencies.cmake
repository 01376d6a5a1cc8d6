# Every library besides torch. The first three are required everywhere; the rest switch off what needs them.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

add_library(lengthwise_toml INTERFACE)
find_path(LENGTHWISE_TOML_INCLUDE toml++/toml.h HINTS ${LENGTHWISE_TOMLPLUSPLUS} ${PROJECT_SOURCE_DIR}/.deps/include)
if(NOT LENGTHWISE_TOML_INCLUDE)
  message(FATAL_ERROR "toml++ was not found: install libtomlplusplus-dev, or name the folder that holds "
                      "toml++/toml.h with -DLENGTHWISE_TOMLPLUSPLUS=DIR")
endif()
target_include_directories(lengthwise_toml SYSTEM INTERFACE ${LENGTHWISE_TOML_INCLUDE})
target_compile_definitions(lengthwise_toml INTERFACE TOML_HEADER_ONLY=1)

find_package(Threads REQUIRED)
find_package(GTest)
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)
