#pragma once
/// The files page.html, *.css and *.js of this folder, put into the program by cmake/embed_text.cmake.
#include <string_view>

namespace lengthwise {

extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;  ///< all scripts, one after the other

}  // namespace lengthwise
