// Failures of the world outside the program, which the library's users catch too. Each kind has its
// exit code, which cli/ alone knows (docs/errors.md). Bugs of our own are PD_CHECK's
// (core/check.h); expected outcomes are return values.
#pragma once

#include <pipedream/errors.h>
