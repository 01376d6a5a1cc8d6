// Any text of the language's characters.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/error.h"
#include "positional/spec.h"

namespace lengthwise {
namespace {

/// Any text is read or refused, and what is read has a text that reads the same.
TEST(Spec, AnyTextIsReadOrRefused) {
  EXPECT_TRUE(rc::check("texts of the language's own characters", [] {
    const auto text =
        *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'Z', '1', '-', '(', ')', ',', '=', '+', ' ', '.'));
    EncodingSpec spec;
    try {
      spec = parse_spec(text);
    } catch (const UserError&) {
      return;
    }
    const std::string canonical = to_text(spec);
    RC_ASSERT(to_text(parse_spec(canonical)) == canonical);
  }));
}

}  // namespace
}  // namespace lengthwise
