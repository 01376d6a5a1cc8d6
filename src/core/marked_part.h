#pragma once
/// A part of a document that a command writes, between two lines that say so.
#include <string>
#include <string_view>

namespace lengthwise {

/// The document with `text` between its two marks instead of whatever stands there. UserError where it does not have
/// both, in this order; `where` names the document.
std::string with_marked_part(const std::string& document, std::string_view begin, std::string_view end,
                             const std::string& text, const std::string& where);

}  // namespace lengthwise
