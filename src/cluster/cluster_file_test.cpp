#include "cluster/cluster_file.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream::cluster {
namespace {

using test::message_of;

const std::string kHead = "format = 'pipedream-cluster'\nversion = 1\nname = 'test'\n";
const std::string kLevel = "[[level]]\nname = 'l'\ncount = 2\nbandwidth = '1GB/s'\n";
const std::string kDevice = "[device]\nmemory = '1GiB'\n";

std::string refusal(const std::string& content) {
  return message_of<BadFile>([&] { (void)parse_cluster(content, "c.toml"); });
}

TEST(ParseCluster, ReadsEveryField) {
  const Cluster cluster = parse_cluster(kHead + R"(
      [[level]]
      name = "server"
      count = 4
      bandwidth = "10GB/s"
      latency = "5us"
      [[level]]
      name = "network"
      count = 2
      bandwidth = "10Gbit/s"
      shared = true
      [device]
      memory = "16GiB"
      [[worker]]
      id = 3
      memory = "8GiB"
      [[worker]]
      id = 7
      speed = 0.5)",
                                        "c.toml");
  EXPECT_EQ(cluster.name, "test");
  const std::vector<Level> levels{{"server", 4, Bandwidth{1e10}, Nanos(5000), false},
                                  {"network", 2, Bandwidth{1.25e9}, Nanos(0), true}};
  EXPECT_EQ(cluster.levels, levels);
  std::vector<Device> devices(8, Device{Bytes{17'179'869'184}, 1.0});
  devices[3].memory = Bytes{8'589'934'592};
  devices[7].speed = 0.5;
  EXPECT_EQ(cluster.devices, devices);
}

TEST(ParseCluster, DefaultsAreNoLatencyAndOwnLinks) {
  const Cluster cluster = parse_cluster(kHead + kLevel + kDevice, "c.toml");
  EXPECT_EQ(cluster.levels.at(0).latency, Nanos(0));
  EXPECT_FALSE(cluster.levels.at(0).shared);
  EXPECT_EQ(cluster.devices.at(1).speed, 1.0);
}

TEST(ParseCluster, RefusesAnotherFormatOrVersion) {
  EXPECT_EQ(refusal("format = 'pipedream-plan'\nversion = 1\n"),
            "c.toml:1: format: wanted \"pipedream-cluster\", found \"pipedream-plan\": is this the "
            "right file?");
  EXPECT_EQ(refusal("format = 'pipedream-cluster'\nversion = 2\n"),
            "c.toml:2: version: this program reads version 1, found 2");
  EXPECT_EQ(refusal(""), "c.toml: the key 'format' is missing");
  EXPECT_EQ(refusal("= 1").find("c.toml:1: not TOML: "), 0U);
}

TEST(ParseCluster, NamesWhatIsMissing) {
  EXPECT_EQ(refusal("format = 'pipedream-cluster'\nversion = 1\n"),
            "c.toml: the key 'name' is missing");
  EXPECT_EQ(refusal(kHead + kDevice), "c.toml: the key 'level' is missing");
  EXPECT_EQ(refusal(kHead + kLevel), "c.toml: the key 'device' is missing");
  EXPECT_EQ(refusal(kHead + kLevel + "[device]\nspeed = 2\n"),
            "c.toml:8: device: the key 'memory' is missing");
  EXPECT_EQ(refusal(kHead + "[[level]]\nname = 'l'\ncount = 2\n"),
            "c.toml:4: level[0]: the key 'bandwidth' is missing");
  EXPECT_EQ(refusal(kHead + "[[level]]\nname = 'l'\n"),
            "c.toml:4: level[0]: the key 'count' is missing");
  EXPECT_EQ(refusal(kHead + "[[level]]\n"), "c.toml:4: level[0]: the key 'name' is missing");
  EXPECT_EQ(refusal(kHead + kLevel + kDevice + "[[worker]]\nspeed = 2\n"),
            "c.toml:10: worker[0]: the key 'id' is missing");
}

TEST(ParseCluster, RefusesUnknownKeysWithTheNearestKnownOne) {
  EXPECT_EQ(refusal(kHead + "levels = 3\n"),
            "c.toml:4: levels: unknown key (did you mean 'level'?)");
  EXPECT_EQ(refusal(kHead + "[[level]]\nname = 'l'\nbandwith = '1GB/s'\n"),
            "c.toml:6: level[0].bandwith: unknown key (did you mean 'bandwidth'?)");
  EXPECT_EQ(refusal(kHead + kLevel + "[device]\nram = '1GiB'\n"),
            "c.toml:9: device.ram: unknown key (known: memory, speed)");
  EXPECT_EQ(refusal(kHead + kLevel + kDevice + "[[worker]]\nid = 0\nsped = 2\n"),
            "c.toml:12: worker[0].sped: unknown key (did you mean 'speed'?)");
}

TEST(ParseCluster, RefusesValuesOutOfRange) {
  const auto level = [](const std::string& count, const std::string& rest) {
    return refusal(kHead + "[[level]]\nname = 'l'\ncount = " + count + "\nbandwidth = " + rest);
  };
  EXPECT_EQ(level("0", "'1GB/s'"),
            "c.toml:6: level[0].count: wanted a whole number from 1 to 1000000, found 0");
  EXPECT_EQ(level("2.5", "'1GB/s'"),
            "c.toml:6: level[0].count: wanted a whole number from 1 to 1000000, found 2.5");
  EXPECT_EQ(level("2", "10"), "c.toml:7: level[0].bandwidth: wanted a string, found 10");
  EXPECT_EQ(level("2", "'0Gbit/s'")
                .find("c.toml:7: level[0].bandwidth: wanted a speed such as "
                      "\"10Gbit/s\", found \"0Gbit/s\": it must be at least 1bit/s"),
            0U);
  EXPECT_EQ(level("2", "'1GB/s'\nlatency = '-1us'")
                .find("c.toml:8: level[0].latency: wanted a time such as \"20us\", found \"-1us\": "
                      "it is negative"),
            0U);
  EXPECT_EQ(level("2", "'1GB/s'\nshared = 'yes'"),
            "c.toml:8: level[0].shared: wanted true or false, found \"yes\"");
}

TEST(ParseCluster, RefusesBadDevicesAndWorkers) {
  EXPECT_EQ(refusal(kHead + kLevel + "[device]\nmemory = '0B'\n"),
            "c.toml:9: device.memory: wanted more than 0 bytes of memory");
  EXPECT_EQ(refusal(kHead + kLevel + kDevice + "speed = 0\n"),
            "c.toml:10: device.speed: wanted a number from 0.001 to 1000, found 0");
  EXPECT_EQ(refusal(kHead + kLevel + kDevice + "speed = nan\n"),
            "c.toml:10: device.speed: wanted a number from 0.001 to 1000, found nan");
  EXPECT_EQ(refusal(kHead + kLevel + kDevice + "[[worker]]\nid = 2\n"),
            "c.toml:11: worker[0].id: wanted a whole number from 0 to 1, found 2");
}

TEST(ParseCluster, RefusesAWorkerDescribedTwiceOrNotAtAll) {
  const std::string good = kHead + kLevel + kDevice + "[[worker]]\nid = 0\n";
  EXPECT_NE(refusal(good + "speed = 2\n[[worker]]\nid = 0\nspeed = 3\n")
                .find("worker[1].id: worker 0 is described twice"),
            std::string::npos);
  EXPECT_NE(
      refusal(good).find("worker[0]: wanted the worker's memory, speed or both, found neither"),
      std::string::npos);
}

TEST(ParseCluster, RefusesTooManyWorkersOrLevels) {
  const std::string thousand = "[[level]]\nname = 'l'\ncount = 1000\nbandwidth = '1GB/s'\n";
  EXPECT_EQ(refusal(kHead + thousand + thousand + kLevel + kDevice),
            "c.toml:12: level[2]: wanted at most 1000000 workers in all, found 2000000");
  EXPECT_EQ(parse_cluster(kHead + thousand + thousand + kDevice, "c").workers(), 1'000'000);
  std::string nine = kHead;
  for (int i = 0; i < 9; ++i) nine += kLevel;
  EXPECT_EQ(refusal(nine + kDevice), "c.toml:4: level: wanted 1 to 8 levels, found 9");
  EXPECT_EQ(refusal(kHead + "level = []\n" + kDevice),
            "c.toml:4: level: wanted 1 to 8 levels, found 0");
  EXPECT_EQ(refusal(kHead + "level = 3\n" + kDevice), "c.toml:4: level: wanted a list, found 3");
}

TEST(ReadCluster, NamesAMissingFile) {
  EXPECT_EQ(message_of<IoError>([] { (void)read_cluster("/no/such.toml"); }),
            "cannot read /no/such.toml: No such file or directory");
}

TEST(ToToml, WritesWhatIsReadBackAsTheSame) {
  Cluster cluster;
  cluster.name = "quotes \" and \\ and ü";
  cluster.levels = {{"inner \"x\"", 2, Bandwidth{1.0 / 3}, Nanos(7), true},
                    {"outer", 3, Bandwidth{1e18}, Nanos(0), false}};
  cluster.devices.assign(6, Device{Bytes{(std::int64_t{1} << 53) + 1}, 1.0 / 3});
  cluster.devices[0] = {Bytes{1}, 1000};
  cluster.devices[5].speed = 0.001;
  EXPECT_EQ(parse_cluster(to_toml(cluster), "c.toml"), cluster);
}

TEST(ToToml, WritesAPlainFile) {
  Cluster cluster;
  cluster.name = "two";
  cluster.levels = {{"machine", 2, Bandwidth{8e9}, Nanos(5000), false}};
  cluster.devices = {{Bytes{4'294'967'296}, 1}, {Bytes{4'294'967'296}, 0.5}};
  EXPECT_EQ(to_toml(cluster), R"(format = "pipedream-cluster"
version = 1
name = "two"

[[level]]
name = "machine"
count = 2
bandwidth = "8GB/s"
latency = "5us"
shared = false

[device]
memory = "4GiB"
speed = 1.0

[[worker]]
id = 1
memory = "4GiB"
speed = 0.5
)");
}

const std::filesystem::path kExamples = std::filesystem::path(PD_SOURCE_DIR) / "examples/clusters";

TEST(Examples, AllClustersSurviveTheRoundTrip) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    const Cluster cluster = read_cluster(entry.path());
    EXPECT_EQ(parse_cluster(to_toml(cluster), "again.toml"), cluster) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 7);
}

TEST(Examples, HaveTheShapesOfThePapersClusters) {
  const auto shape = [](const char* name) {
    const Cluster c = read_cluster(kExamples / name);
    std::string text = std::to_string(c.workers()) + " × " + to_text(c.devices.at(0).memory);
    for (const Level& level : c.levels)
      text += ", " + std::to_string(level.count) + " at " + to_text(level.bandwidth) +
              (level.shared ? " shared" : "");
    return text;
  };
  EXPECT_EQ(shape("a-1x4.toml"), "4 × 16 GiB, 4 at 80 Gbit/s");
  EXPECT_EQ(shape("a-3x4.toml"), "12 × 16 GiB, 4 at 80 Gbit/s, 3 at 10 Gbit/s shared");
  EXPECT_EQ(shape("a-4x4.toml"), "16 × 16 GiB, 4 at 80 Gbit/s, 4 at 10 Gbit/s shared");
  EXPECT_EQ(shape("b-2x8.toml"), "16 × 16 GiB, 8 at 320 Gbit/s, 2 at 25 Gbit/s shared");
  EXPECT_EQ(shape("c-4x1.toml"), "4 × 12 GiB, 4 at 40 Gbit/s");
  EXPECT_EQ(shape("laptop.toml"), "2 × 4 GiB, 2 at 64 Gbit/s");
  EXPECT_EQ(shape("two-hosts.toml"), "4 × 4 GiB, 2 at 64 Gbit/s, 2 at 1 Gbit/s shared");
}

TEST(Examples, TheClusterInTheDocumentIsRead) {
  const std::string document = read_file(std::filesystem::path(PD_SOURCE_DIR) / "docs/formats.md");
  const auto blocks = test::fenced_blocks(document, "toml");
  ASSERT_FALSE(blocks.empty());
  for (const std::string& block : blocks) {
    const Cluster cluster = parse_cluster(block, "docs/formats.md");
    EXPECT_EQ(parse_cluster(to_toml(cluster), "again.toml"), cluster);
  }
}

}  // namespace
}  // namespace pipedream::cluster
