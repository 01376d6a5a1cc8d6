#include "eval/run_origin.h"

#include <cmath>

#include "core/files.h"
#include "core/json.h"
#include "core/version.h"
#include "runtime/origin.h"

namespace lengthwise {

void write_origin(const RunFolder& folder, const std::string& device, double seconds) {
  const Json json = {{"format", "lengthwise-origin"},
                     {"version", 1},
                     {"lengthwise", kVersion},
                     {"torch", kTorchVersion},
                     {"commit", build_commit()},
                     {"machine", machine_name(device)},
                     {"seconds", std::round(seconds * 1000) / 1000}};
  write_file(folder.file("origin.json"), json_text(json, 2) + "\n");
}

}  // namespace lengthwise
