// PD_CHECK(rule) aborts with the rule, the file and the line if `rule` is false. It states what
// only a bug in this program can break; user input must never fail a PD_CHECK.
#pragma once

namespace pipedream {
[[noreturn]] void panic(const char* rule, const char* file, int line);
}

#define PD_CHECK(rule) ((rule) ? void() : ::pipedream::panic(#rule, __FILE__, __LINE__))
