#include "cli/page_flags.h"

#include "cli/flags.h"
#include "cli/pictures.h"
#include "page/page.h"

namespace pipedream::cli {

void add_page_flag(CLI::App& command, std::string& file) {
  command
      .add_option("--html", file,
                  "Write a page about it to this file: plan, timeline, memory, other systems")
      ->check(check_output_name);
}

void check_page_file(const std::string& flag, const std::string& file) {
  check_no_other_file(flag, file, page::kFirstLines, "page");
}

}  // namespace pipedream::cli
