#include "core/units.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream {
namespace {

using test::message_of;

TEST(ParseBytes, ReadsDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("512B").count, 512);
  EXPECT_EQ(parse_bytes("3kB").count, 3000);
  EXPECT_EQ(parse_bytes("3KiB").count, 3072);
  EXPECT_EQ(parse_bytes("1.5MB").count, 1'500'000);
  EXPECT_EQ(parse_bytes("0.5MiB").count, 524'288);
  EXPECT_EQ(parse_bytes("16GiB").count, 17'179'869'184);
  EXPECT_EQ(parse_bytes("2TB").count, 2'000'000'000'000);
  EXPECT_EQ(parse_bytes("1TiB").count, 1'099'511'627'776);
}

TEST(ParseBytes, AllowsSpacesAroundNumberAndUnit) {
  EXPECT_EQ(parse_bytes("  16 \t GiB ").count, 17'179'869'184);
}

TEST(ParseBytes, RoundsToTheNearestByte) {
  EXPECT_EQ(parse_bytes("0.4B").count, 0);
  EXPECT_EQ(parse_bytes("1.0006kB").count, 1001);
  EXPECT_EQ(parse_bytes("-0B").count, 0);
}

TEST(ParseBytes, KeepsWholeNumbersExactWhereADoubleWouldNot) {
  EXPECT_EQ(parse_bytes("9007199254740993B").count, 9'007'199'254'740'993);
  EXPECT_EQ(parse_bytes("4611686018427387904B").count, std::int64_t{1} << 62);
}

TEST(ParseBytes, SaysWhatWasWantedFoundAndWhichUnitsExist) {
  EXPECT_EQ(message_of<BadValue>([] { (void)parse_bytes("16 gb"); }),
            "wanted a size such as \"16GiB\", found \"16 gb\": there is no such unit "
            "(units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)");
}

TEST(ParseBytes, NamesWhatIsWrong) {
  const auto why = [](std::string_view text) {
    return message_of<BadValue>([&] { (void)parse_bytes(text); });
  };
  const std::string wanted = "wanted a size such as \"16GiB\", found ";
  const std::string units = " (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)";
  EXPECT_EQ(why(""), wanted + "\"\"" + units);
  EXPECT_EQ(why("GiB"), wanted + "\"GiB\"" + units);
  EXPECT_EQ(why("+1B"), wanted + "\"+1B\"" + units);
  EXPECT_EQ(why("1e999B"), wanted + "\"1e999B\"" + units);
  EXPECT_EQ(why("16"), wanted + "\"16\": the unit is missing" + units);
  EXPECT_EQ(why("-1B"), wanted + "\"-1B\": it is negative" + units);
  EXPECT_EQ(why("nanB"), wanted + "\"nanB\": it is not finite" + units);
  EXPECT_EQ(why("infB"), wanted + "\"infB\": it is not finite" + units);
  EXPECT_EQ(why("1e19B"), wanted + "\"1e19B\": it is too large" + units);
  EXPECT_EQ(why("4611686018427387905TB"),
            wanted + "\"4611686018427387905TB\": it is too large" + units);
  EXPECT_EQ(why("1B x"), wanted + "\"1B x\": there is no such unit" + units);
  EXPECT_EQ(why("0x10B"), wanted + "\"0x10B\": there is no such unit" + units);
}

TEST(ParseBytes, KeepsAMegabyteOfRubbishToOneShortLine) {
  const auto message =
      message_of<BadValue>([] { (void)parse_bytes(std::string(1'000'000, '\n')); });
  EXPECT_NE(message.find("found \"" + std::string(60, '?') + "…\""), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LT(message.size(), 250U);
}

TEST(ParseBandwidth, CountsBitsInEighthsOfBytes) {
  EXPECT_EQ(parse_bandwidth("10Gbit/s").bytes_per_second, 1.25e9);
  EXPECT_EQ(parse_bandwidth("12.5GB/s").bytes_per_second, 12.5e9);
  EXPECT_EQ(parse_bandwidth("100 Mbit/s").bytes_per_second, 12.5e6);
  EXPECT_EQ(parse_bandwidth("1GiB/s").bytes_per_second, 1073741824.0);
  EXPECT_EQ(parse_bandwidth("1bit/s").bytes_per_second, 0.125);
}

TEST(ParseBandwidth, RefusesZeroAndWhatRoundsToIt) {
  const auto why = [](std::string_view text) {
    return message_of<BadValue>([&] { (void)parse_bandwidth(text); });
  };
  EXPECT_EQ(why("0B/s"),
            "wanted a speed such as \"10Gbit/s\", found \"0B/s\": it must be at least 1bit/s "
            "(units: bit/s, B/s, kbit/s, kB/s, KiB/s, Mbit/s, MB/s, MiB/s, Gbit/s, GB/s, GiB/s, "
            "Tbit/s, TB/s)");
  EXPECT_NE(why("5e-324bit/s").find("it must be at least 1bit/s"), std::string::npos);
  EXPECT_NE(why("1e7TB/s").find("it is too large"), std::string::npos);
  EXPECT_NE(why("10Gbps").find("there is no such unit"), std::string::npos);
}

TEST(ParseDuration, ReadsNanosecondsToHours) {
  EXPECT_EQ(parse_duration("7ns").count(), 7);
  EXPECT_EQ(parse_duration("20us").count(), 20'000);
  EXPECT_EQ(parse_duration("1.5ms").count(), 1'500'000);
  EXPECT_EQ(parse_duration("3s").count(), 3'000'000'000);
  EXPECT_EQ(parse_duration("2min").count(), 120'000'000'000);
  EXPECT_EQ(parse_duration("1h").count(), 3'600'000'000'000);
  EXPECT_EQ(parse_duration("0s").count(), 0);
}

TEST(ParseDuration, NamesItsUnits) {
  EXPECT_EQ(message_of<BadValue>([] { (void)parse_duration("5 m"); }),
            "wanted a time such as \"20us\", found \"5 m\": there is no such unit "
            "(units: ns, us, ms, s, min, h)");
}

TEST(Seconds, ConvertToTheNearestNanosecondAndBack) {
  EXPECT_EQ(from_seconds(1.5).count(), 1'500'000'000);
  EXPECT_EQ(from_seconds(0.6e-9).count(), 1);
  EXPECT_DOUBLE_EQ(to_seconds(Nanos(2'500'000)), 0.0025);
}

TEST(ToText, ChoosesTheUnitAPersonWould) {
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{1023}), "1023 B");
  EXPECT_EQ(to_text(Bytes{1536}), "1.5 KiB");
  EXPECT_EQ(to_text(Bytes{17'179'869'184}), "16 GiB");
  EXPECT_EQ(to_text(Bytes{-1536}), "-1.5 KiB");
  EXPECT_EQ(to_text(Bandwidth{1.25e9}), "10 Gbit/s");
  EXPECT_EQ(to_text(Bandwidth{12.5e6}), "100 Mbit/s");
  EXPECT_EQ(to_text(Nanos(999)), "999 ns");
  EXPECT_EQ(to_text(Nanos(22'307'000)), "22.31 ms");
  EXPECT_EQ(to_text(Nanos(-1'500)), "-1.5 us");
}

TEST(ToText, NeverShowsAThousandOfAUnitThatHasALargerOne) {
  EXPECT_EQ(to_text(Nanos(999'940'000)), "999.9 ms");
  EXPECT_EQ(to_text(Nanos(999'960'000)), "1 s");
}

TEST(ToExactText, PrefersTheLargestUnitThatLosesNothing) {
  EXPECT_EQ(to_exact_text(Bytes{17'179'869'184}), "16GiB");
  EXPECT_EQ(to_exact_text(Bytes{1'500'000}), "1500kB");
  EXPECT_EQ(to_exact_text(Bytes{1'500'001}), "1500001B");
  EXPECT_EQ(to_exact_text(Bytes{0}), "0B");
  EXPECT_EQ(to_exact_text(Bandwidth{1.25e9}), "10Gbit/s");
  EXPECT_EQ(to_exact_text(Bandwidth{0.0125}), "0.1bit/s");
  EXPECT_EQ(to_exact_text(Nanos(20'000)), "20us");
  EXPECT_EQ(to_exact_text(Nanos(90'000'000'000)), "90s");
  EXPECT_EQ(to_exact_text(Nanos(7'200'000'000'000)), "2h");
}

TEST(ToExactText, IsReadBackAsTheSameValue) {
  for (const std::int64_t count :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1023}, std::int64_t{86'399'999'999'999},
        (std::int64_t{1} << 53) + 1, (std::int64_t{1} << 62) - 1, std::int64_t{1} << 62}) {
    EXPECT_EQ(parse_bytes(to_exact_text(Bytes{count})).count, count);
    EXPECT_EQ(parse_duration(to_exact_text(Nanos(count))).count(), count);
  }
  for (const double speed : {0.125, 1.0 / 3, 125e6, 1.1e9, std::nextafter(1.25e9, 2e9), 1e18})
    EXPECT_EQ(parse_bandwidth(to_exact_text(Bandwidth{speed})).bytes_per_second, speed);
}

}  // namespace
}  // namespace pipedream
