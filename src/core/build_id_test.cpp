#include "core/build_id.h"

#include <gtest/gtest.h>

namespace pipedream {
namespace {

TEST(BuildId, IsTheSameAtEveryCallAndMadeOfHexadecimalDigits) {
  const std::string id = build_id();
  EXPECT_EQ(id, build_id());
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos) << id;
}

TEST(BuildId, OfALibraryIsNotThatOfTheProgram) {
  const std::string library = build_id_of_library("libstdc++");
  if (library.empty()) GTEST_SKIP() << "this libstdc++ has no build id, or is linked in";
  EXPECT_NE(library, build_id());
}

TEST(BuildId, OfALibraryThatIsNotLoadedIsEmpty) {
  EXPECT_EQ(build_id_of_library("libthatdoesnotexist"), "");
}

}  // namespace
}  // namespace pipedream
