// PD_CHECK states a rule that only a bug of ours can break: it names rule and place and aborts.
// User input must never reach one.
#pragma once

namespace pipedream {
[[noreturn]] void panic(const char* rule, const char* file, int line);
}

#define PD_CHECK(rule) ((rule) ? void() : ::pipedream::panic(#rule, __FILE__, __LINE__))
