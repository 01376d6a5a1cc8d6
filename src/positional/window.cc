#include "positional/entry.h"

namespace lengthwise {
namespace {

class Window : public Encoding {
 public:
  explicit Window(const EncodingArguments& arguments) : size_(arguments.whole("size", 1, int64_t{1} << 30)) {}

  LayerValues layer(int64_t, const EncodingContext&) const override {
    LayerValues values;
    values.window = size_;
    return values;
  }

 private:
  int64_t size_;
};

}  // namespace

extern const EncodingEntry window_encoding{
    .info = {.name = "window",
             .label = "Window",
             .family = "bias",
             .formula = "keys with i - j >= size are not seen",
             .paper = "Beltagy et al. 2020 (2004.05150)",
             .aliases = {"sliding-window", "swa"}},
    .options = {{"size", "16", "tokens that a query sees, itself among them"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape&,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<Window>(arguments); }};

}  // namespace lengthwise
