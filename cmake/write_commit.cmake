# cmake -DSOURCE=DIR -DOUT=FILE.cc [-DCOMMIT=TEXT] -P write_commit.cmake
#
# Writes a C++ source that defines build_commit() of runtime/origin.h: COMMIT if it is given, otherwise what git says of
# SOURCE. A file that would be the same is left alone, so that nothing is compiled again.
if(NOT COMMIT)
  set(COMMIT unknown)
  if(EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git describe --always --dirty --abbrev=7 --exclude=* WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      set(COMMIT ${described})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "runtime/origin.h"

namespace lengthwise {

std::string build_commit() {
  return "@COMMIT@";
}

}  // namespace lengthwise
]])
