// The id that the linker gave to a program or shared library: a digest of its content, which tells
// one build from another.
#pragma once

#include <string>

namespace pipedream {

// The id of the program or library that this function is linked into, as hexadecimal digits. Empty
// if it has none.
[[nodiscard]] std::string build_id();

// The id of the first loaded library whose file name contains `name`, such as "libtorch_cpu". Empty
// if none is loaded or it has no id.
[[nodiscard]] std::string build_id_of_library(const std::string& name);

}  // namespace pipedream
