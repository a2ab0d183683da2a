#include "report/svg.h"

#include <gtest/gtest.h>

#include "report/svg_testing.h"

namespace pipedream::report {
namespace {

TEST(EscapeXml, LeavesPlainTextAlone) {
  EXPECT_EQ(escape_xml(""), "");
  EXPECT_EQ(escape_xml("F3@1, 12 ms – µ → 𝄞"), "F3@1, 12 ms – µ → 𝄞");
}

TEST(EscapeXml, TurnsMarkupIntoEntities) {
  EXPECT_EQ(escape_xml("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
}

TEST(EscapeXml, ReplacesWhatXmlForbids) {
  EXPECT_EQ(escape_xml(std::string_view("a\0b\x01\x7F\n", 6)), "a�b���");
  EXPECT_EQ(escape_xml("\xEF\xBF\xBF|\xED\xA0\x80"), "�|�") << "U+FFFF, a surrogate";
}

TEST(EscapeXml, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(escape_xml("a\xFF\xC3"), "a��");
  EXPECT_EQ(escape_xml("\xC3(\xA9"), "�(�") << "broken off, then the rest of another";
  EXPECT_EQ(escape_xml("\xC0\x80"), "��") << "longer than need be";
  EXPECT_EQ(escape_xml("\xF4\x90\x80\x80"), "�") << "beyond Unicode";
}

TEST(Pixels, HaveADecimalOnlyWhereNeeded) {
  EXPECT_EQ(pixels(0), "0");
  EXPECT_EQ(pixels(120), "12");
  EXPECT_EQ(pixels(125), "12.5");
  EXPECT_EQ(pixels(3), "0.3");
  EXPECT_EQ(pixels(-3), "-0.3");
}

TEST(Svg, IsADocumentOfWhatWasDrawn) {
  Svg svg(1000, 505, ".a{fill:#fff}\n", "<pattern id=\"p\"/>\n");
  svg.rect("a", {10, 25, 300, 40}, "1 < 2");
  svg.polygon("a", {{0, 0}, {15, 0}, {0, 20}}, "triangle");
  svg.line("b", {{0, 0}, {15, 25}});
  svg.begin_group("t9");
  svg.text("", 5, 6, "x & y");
  svg.end_group();
  EXPECT_EQ(std::move(svg).finish(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50.5\" "
            "viewBox=\"0 0 100 50.5\">\n"
            "<style>\n.a{fill:#fff}\n</style>\n"
            "<defs>\n<pattern id=\"p\"/>\n</defs>\n"
            "<rect class=\"a\" x=\"1\" y=\"2.5\" width=\"30\" height=\"4\">"
            "<title>1 &lt; 2</title></rect>\n"
            "<polygon class=\"a\" points=\"0,0 1.5,0 0,2\"><title>triangle</title></polygon>\n"
            "<polyline class=\"b\" points=\"0,0 1.5,2.5\"/>\n"
            "<g class=\"t9\">\n<text x=\"0.5\" y=\"0.6\">x &amp; y</text>\n</g>\n</svg>\n");
}

TEST(XmlReader, RefusesWhatIsNotWellFormed) {
  for (const char* bad : {"<a>", "<a></b>", "<a/><b/>", "<a b=\"1\" b=\"2\"/>", "<a b=1/>",
                          "<a>&</a>", "<a>\x01</a>", "<a b=\"<\"/>", "text", ""})
    EXPECT_ANY_THROW((void)XmlReader::read(bad)) << bad;
  EXPECT_EQ(XmlReader::read("<a b=\"&lt;\"><c>x</c><title>y</title></a>").size(), 3U);
}

}  // namespace
}  // namespace pipedream::report
