// libpng reports errors by longjmp. So what it calls, and what calls setjmp, has only objects
// without destructors; the objects that own something are in decode_png(), which no jump crosses.
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <png.h>

#include "core/check.h"
#include "core/error.h"
#include "image/formats.h"

namespace pipedream::image {
namespace {

constexpr std::string_view kSignature{"\x89PNG\r\n\x1a\n", 8};

// What the callbacks share.
struct PngInput {
  const char* bytes;
  std::size_t size;
  std::size_t at = 0;  // where the next read begins
  char why[200] = "";  // what libpng says of an error
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* input = static_cast<PngInput*>(png_get_error_ptr(png));
  std::snprintf(input->why, sizeof(input->why), "the PNG is damaged: %s", message);
  png_longjmp(png, 1);
}

// Warnings are about parts that do not change the pixels.
void on_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep into, std::size_t count) {
  auto* input = static_cast<PngInput*>(png_get_io_ptr(png));
  if (count > input->size - input->at) {
    input->at = input->size;
    png_error(png, "it is cut off");
  }
  std::memcpy(into, input->bytes + input->at, count);
  input->at += count;
}

// Owns libpng's state.
class Png {
 public:
  explicit Png(PngInput* input)
      : png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, input, on_png_error, on_png_warning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw IoError(
          "libpng cannot be used: it has another version than the one built with, or "
          "there is no memory");
    }
    png_set_read_fn(png_, input, read_png_bytes);
  }
  ~Png() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  // Reads what is before the pixels. Returns whether that succeeded.
  [[nodiscard]] bool read_head() noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    // Chunks that do not change the pixels are passed over.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  // Reads all pixels, and the chunks after them.
  [[nodiscard]] bool read_rows(std::uint8_t* pixels) noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const std::size_t row = png_get_rowbytes(png_, info_);
    for (int pass = 0; pass < passes_; ++pass)
      for (std::size_t i = 0; i < png_get_image_height(png_, info_); ++i)
        png_read_row(png_, pixels + i * row, nullptr);
    png_read_end(png_, nullptr);
    return true;
  }

  [[nodiscard]] std::int64_t rows() const { return png_get_image_height(png_, info_); }
  [[nodiscard]] std::int64_t columns() const { return png_get_image_width(png_, info_); }
  [[nodiscard]] std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }

 private:
  png_structp png_;
  png_infop info_;
  int passes_ = 0;
};

}  // namespace

bool is_png(std::string_view file) { return file.starts_with(kSignature); }

Picture decode_png(const Source& source) {
  PngInput input{source.file.data(), source.file.size()};
  Png png(&input);
  if (!png.read_head()) refuse(source, input.at, input.why);
  Picture picture = black(source, png.rows(), png.columns());
  PD_CHECK(png.row_bytes() * static_cast<std::size_t>(png.rows()) == picture.pixels.size());
  if (!png.read_rows(picture.pixels.data())) refuse(source, input.at, input.why);
  return picture;
}

}  // namespace pipedream::image
