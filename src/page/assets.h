// The files of src/page/web, which the build puts into the program.
#pragma once

namespace pipedream::page {

extern const char* const kStyle;   // page.css
extern const char* const kScript;  // all scripts, in the order in which they need each other

}  // namespace pipedream::page
