// The operators that exported programs may call.
#pragma once

#include <string>
#include <string_view>

namespace pipedream::imported {

// Whether a program may call the operator, such as "aten::add". Allowed are operators by name, not
// whole families: some operators of libtorch read or write files. An operator that writes into its
// argument ("aten::add_") is allowed if the one without the last character is.
[[nodiscard]] bool is_allowed(std::string_view op);

// Whether the operator does nothing but check something about the example that was exported. Such
// calls are left out.
[[nodiscard]] bool only_checks(std::string_view op);

// Whether the operator takes much of a network's time: convolutions, matrix products, recurrent
// layers, attention. A layer that was cut out of plain code has one of them.
[[nodiscard]] bool is_heavy(std::string_view op);

// "add" for "aten::add_": the name without its family, and without the sign that it works in place.
[[nodiscard]] std::string plain_name(std::string_view op);

}  // namespace pipedream::imported
