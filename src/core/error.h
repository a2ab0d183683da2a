// Exceptions for failures outside the program. They are public, because users of the library catch
// them too. cli/ turns each kind into an exit code (docs/errors.md). Bugs of this program are
// reported by PD_CHECK (core/check.h) instead, and expected outcomes are return values.
#pragma once

#include <pipedream/errors.h>
