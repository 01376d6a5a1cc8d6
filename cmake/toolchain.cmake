# Compiler flags, sanitizers, ccache and the linker: the one place for them.
find_program(LENGTHWISE_CCACHE ccache)
if(LENGTHWISE_CCACHE)
  # A precompiled header is only cacheable when its defines and time stamps do not count.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${LENGTHWISE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()
find_program(LENGTHWISE_MOLD mold)
if(LENGTHWISE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(lengthwise_warnings INTERFACE)
target_compile_options(lengthwise_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror>)

if(LENGTHWISE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
