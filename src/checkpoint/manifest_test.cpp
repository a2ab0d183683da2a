#include "checkpoint/manifest.h"

#include <cmath>

#include <gtest/gtest.h>

#include "checkpoint/manifest_testing.h"
#include "core/checksum.h"
#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream::checkpoint {
namespace {

Manifest example() {
  Manifest manifest = manifest_of(1200);
  manifest.files = {{"worker0.safetensors", 123, checksum_of("a")},
                    {"worker1.safetensors", 0, checksum_of("")}};
  return manifest;
}

// The text of `manifest`, changed, with the checksum that fits the change.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_json(example());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const std::size_t end = text.rfind(",\n  \"checksum\"");
  const std::string body = text.substr(0, end);
  return body + ",\n  \"checksum\": \"" + checksum_of(body) + "\"\n}\n";
}

std::string refusal(const std::string& text) {
  return test::message_of<BadFile>([&] { (void)parse_manifest(text, "m.json"); });
}

TEST(Manifest, ComesBackAsItWas) {
  EXPECT_EQ(parse_manifest(to_json(example()), "m.json"), example());
  Manifest unevaluated = example();
  unevaluated.held_out_loss.reset();
  EXPECT_EQ(parse_manifest(to_json(unevaluated), "m.json"), unevaluated);
}

TEST(Manifest, HasNoLossThatIsNoNumber) {
  Manifest manifest;
  manifest.run = std::string(32, 'a');
  manifest.batch = manifest.data_samples = 1;
  manifest.held_out_loss = std::nan("");
  EXPECT_EQ(parse_manifest(to_json(manifest), "m").held_out_loss, std::nullopt);
}

TEST(Manifest, InTheDocumentIsOne) {
  const auto blocks = test::fenced_blocks(read_file(PD_SOURCE_DIR "/docs/formats.md"), "json");
  ASSERT_GE(blocks.size(), 4U);
  const Manifest manifest = parse_manifest(blocks[3], "docs/formats.md");
  EXPECT_EQ(manifest.position.step, 1200);
  EXPECT_EQ(to_json(manifest), blocks[3]);
}

TEST(Manifest, EveryChangedByteIsNoticed) {
  const std::string sound = to_json(example());
  for (std::size_t i = 0; i < sound.size(); ++i)
    for (const int flip : {1, 2, 64}) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      EXPECT_THROW((void)parse_manifest(damaged, "m.json"), BadFile) << "byte " << i;
    }
}

TEST(Manifest, NamesOfFilesArePlain) {
  for (const std::string name :
       {"../worker0.safetensors", "/etc/passwd", "a/b", "..", ".hidden", "", "a\\\\b", "a b"})
    EXPECT_NE(refusal(changed("worker0.safetensors", name)).find("the plain name of a file"),
              std::string::npos)
        << name;
  EXPECT_NE(refusal(changed("worker1", "worker0")).find("listed twice"), std::string::npos);
}

TEST(Manifest, SaysWhereSomethingIsWrong) {
  EXPECT_NE(refusal(changed("\"step\": 1200", "\"step\": -1")).find("position.step"),
            std::string::npos);
  EXPECT_NE(refusal(changed("\"version\": 1", "\"version\": 2")).find("version"),
            std::string::npos);
  EXPECT_NE(refusal(changed("\"batch\"", "\"batches\"")).find("batch"), std::string::npos);
  EXPECT_NE(refusal(changed("00112233", "0011223")).find("32 hexadecimal digits"),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::checkpoint
