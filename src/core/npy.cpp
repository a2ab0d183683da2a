#include "core/npy.h"

#include <charconv>
#include <map>

#include "core/error.h"
#include "core/safetensors.h"
#include "core/text.h"

namespace pipedream {
namespace {

// Reads the Python dictionary in a head: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4),
// }
class HeadReader {
 public:
  HeadReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void read(NpyHead& head) {
    want('{');
    while (!takes('}')) {
      const std::string key = quoted();
      want(':');
      if (key == "descr")
        descr_ = quoted();
      else if (key == "fortran_order")
        is_fortran_ = flag();
      else if (key == "shape")
        head.shape = numbers();
      else
        fail("there is a key '" + printable(key) + "'");
      if (!takes(',') && !is_next('}')) fail("wanted a comma or the end");
    }
    if (is_fortran_) fail("the array is in Fortran's order: save numpy.ascontiguousarray of it");
    head.type = type();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw BadFile(file_ + ": " + what + "; wanted is a file that numpy.save has written");
  }

 private:
  [[nodiscard]] std::string type() const {
    static const std::map<std::string, std::string> types{
        {"<f8", "F64"}, {"<f4", "F32"}, {"<f2", "F16"}, {"<i8", "I64"},
        {"<i4", "I32"}, {"<i2", "I16"}, {"|i1", "I8"},  {"|u1", "U8"},
        {"<u2", "U16"}, {"<u4", "U32"}, {"<u8", "U64"}, {"|b1", "BOOL"}};
    const auto found = types.find(descr_);
    if (found == types.end())
      fail("the array has the type '" + printable(descr_) + "', which is not supported");
    return found->second;
  }
  std::string quoted() {
    want('\'');
    const std::size_t end = text_.find('\'', place_);
    if (end == std::string_view::npos) fail("a text does not end");
    std::string found(text_.substr(place_, end - place_));
    place_ = end + 1;
    return found;
  }
  bool flag() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}})
      if (text_.substr(place_).starts_with(word)) {
        place_ += std::string_view(word).size();
        return value;
      }
    fail("wanted True or False");
  }
  std::vector<std::int64_t> numbers() {
    constexpr std::size_t kMost = 64;
    std::vector<std::int64_t> found;
    want('(');
    while (!takes(')')) {
      skip_blanks();
      std::int64_t number = 0;
      const char* const begin = text_.data() + place_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
      if (error != std::errc{} || number < 0 || found.size() == kMost)
        fail("the shape is no shape");
      place_ += static_cast<std::size_t>(end - begin);
      found.push_back(number);
      if (!takes(',') && !is_next(')')) fail("wanted a comma or the end of the shape");
    }
    return found;
  }
  void skip_blanks() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n')) ++place_;
  }
  bool is_next(char sign) {
    skip_blanks();
    return place_ < text_.size() && text_[place_] == sign;
  }
  bool takes(char sign) {
    if (!is_next(sign)) return false;
    ++place_;
    return true;
  }
  void want(char sign) {
    if (!takes(sign)) fail(std::string("wanted '") + sign + "' in the head");
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t place_ = 0;
  std::string descr_;
  bool is_fortran_ = false;
};

}  // namespace

NpyHead parse_npy_head(std::string_view content, const std::string& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const HeadReader nothing("", file);
  if (!content.starts_with(kMagic) || content.size() < 12) nothing.fail("the file has no head");
  const int version = content[6];
  if (version < 1 || version > 3) nothing.fail("the file has an unknown version");
  const std::size_t digits = version == 1 ? 2 : 4;
  std::uint64_t length = 0;
  for (std::size_t i = digits; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(content[8 + i]);
  NpyHead head;
  head.size = 8 + digits + length;
  if (head.size > content.size()) nothing.fail("the file ends within its head");
  HeadReader(content.substr(8 + digits, length), file).read(head);
  std::uint64_t bytes = safetensors_element_size(head.type);
  for (const std::int64_t side : head.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(side), &bytes))
      nothing.fail("the array is too large");
  if (bytes != content.size() - head.size) nothing.fail("the data are too short or too long");
  return head;
}

}  // namespace pipedream
