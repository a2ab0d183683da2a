#include "report/systems_table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/file.h"

namespace pipedream::report {
namespace {

TEST(SystemsTable, HasALineForEverySystem) {
  const std::string table = systems_table();
  for (const systems::System& system : systems::all_systems())
    EXPECT_NE(table.find("\n" + system.name + " "), std::string::npos) << table;
  EXPECT_EQ(systems_json().at("systems").size(), systems::all_systems().size());
}

TEST(SystemsTable, IsTheTableOfTheDocument) {
  const std::string document = read_file(PD_SOURCE_DIR "/docs/systems.md");
  EXPECT_NE(document.find(systems_markdown()), std::string::npos)
      << "docs/systems.md must have this table:\n"
      << systems_markdown();
}

}  // namespace
}  // namespace pipedream::report
