# Compiler flags, sanitizers, ccache and the linker: the one place for them.
include(CheckLinkerFlag)

find_program(LENGTHWISE_CCACHE ccache)
if(LENGTHWISE_CCACHE)
  # A precompiled header is only cacheable when its defines and time stamps do not count.
  # The base folder makes the cache serve every build folder and every clone alike.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${LENGTHWISE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()

# Installed is not enough: GCC knows the name of mold only from version 12 on.
find_program(LENGTHWISE_MOLD mold)
if(LENGTHWISE_MOLD)
  check_linker_flag(CXX -fuse-ld=mold LENGTHWISE_MOLD_WORKS)
  if(LENGTHWISE_MOLD_WORKS)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# Only the kernels gain from -O3, and ask for it themselves (src/CMakeLists.txt).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_library(lengthwise_warnings INTERFACE)
target_compile_options(lengthwise_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast>
  $<$<AND:$<BOOL:${LENGTHWISE_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  # -Wconversion means less to GCC: no changes of sign.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>
  # GCC 12 and 13 see overlapping and oversized copies in the standard library that cannot occur (bugs 105329, 105651).
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)

if(LENGTHWISE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
