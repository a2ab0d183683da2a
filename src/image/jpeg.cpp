// libjpeg reports errors by a function that must not return. Ours jumps, so the functions that call
// setjmp, and all that libjpeg calls, have only objects without destructors; the objects that own
// something are in decode_jpeg(), which no jump crosses.
#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

#include "image/formats.h"

namespace pipedream::image {
namespace {

// A progressive picture of a few kilobytes can have thousands of passes over all of its pixels.
constexpr int kMostScans = 200;
constexpr std::size_t kInkChannels = 4;  // cyan, magenta, yellow and black
constexpr unsigned kWhite = 255;

// libjpeg's state, with what the callbacks need. They reach it through `client_data`.
struct JpegState {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  std::size_t size = 0;  // of the file
  std::size_t at = 0;    // where an error was found
  char why[JMSG_LENGTH_MAX + 32] = "";
};

JpegState* state_of(j_common_ptr decoder) { return static_cast<JpegState*>(decoder->client_data); }

[[noreturn]] void fail(JpegState* state, const char* why) {
  std::snprintf(state->why, sizeof(state->why), "the JPEG is damaged: %s", why);
  const jpeg_source_mgr* source = state->decoder.src;
  state->at = source == nullptr ? 0 : state->size - std::min(state->size, source->bytes_in_buffer);
  std::longjmp(state->jump, 1);
}

[[noreturn]] void on_jpeg_error(j_common_ptr decoder) {
  char message[JMSG_LENGTH_MAX];
  decoder->err->format_message(decoder, message);
  fail(state_of(decoder), message);
}

// Warnings after which all pixels are as the writer of the file meant them.
bool is_harmless(int warning) {
  return warning == JWRN_ADOBE_XFORM || warning == JWRN_EXTRANEOUS_DATA ||
         warning == JWRN_JFIF_MAJOR || warning == JWRN_NOT_SEQUENTIAL;
}

// `level` is −1 for a warning; the other messages are about what was read. After a warning libjpeg
// makes up pixels, so most warnings are errors here.
void on_jpeg_message(j_common_ptr decoder, int level) {
  if (level >= 0 || is_harmless(decoder->err->msg_code)) return;
  JpegState* state = state_of(decoder);
  if (decoder->err->msg_code != JWRN_JPEG_EOF) on_jpeg_error(decoder);
  state->decoder.src->bytes_in_buffer = 0;
  fail(state, "it is cut off");
}

void on_jpeg_progress(j_common_ptr decoder) {
  JpegState* state = state_of(decoder);
  if (state->decoder.input_scan_number > kMostScans) fail(state, "it has too many scans");
}

// Owns libjpeg's state.
class Jpeg {
 public:
  explicit Jpeg(std::string_view file) : file_(file) {
    state_.size = file.size();
    state_.decoder.err = jpeg_std_error(&state_.errors);
    state_.errors.error_exit = on_jpeg_error;
    state_.errors.emit_message = on_jpeg_message;
    state_.decoder.client_data = &state_;
  }
  // Has no effect on a decoder that was never made.
  ~Jpeg() { jpeg_destroy_decompress(&state_.decoder); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  // Reads what is before the pixels. Returns whether that succeeded.
  [[nodiscard]] bool read_head() noexcept {
    if (setjmp(state_.jump) != 0) return false;
    jpeg_create_decompress(&state_.decoder);
    state_.progress.progress_monitor = on_jpeg_progress;
    state_.decoder.progress = &state_.progress;
    jpeg_mem_src(&state_.decoder, reinterpret_cast<const unsigned char*>(file_.data()),
                 static_cast<unsigned long>(file_.size()));
    (void)jpeg_read_header(&state_.decoder, TRUE);
    const bool is_ink =
        state_.decoder.jpeg_color_space == JCS_CMYK || state_.decoder.jpeg_color_space == JCS_YCCK;
    state_.decoder.out_color_space = is_ink ? JCS_CMYK : JCS_RGB;
    return true;
  }

  // Reads all pixels, of `row` bytes in each row. `line` has room for a row of ink.
  [[nodiscard]] bool read_rows(std::uint8_t* pixels, std::size_t row, std::uint8_t* line) noexcept {
    if (setjmp(state_.jump) != 0) return false;
    (void)jpeg_start_decompress(&state_.decoder);
    while (state_.decoder.output_scanline < state_.decoder.output_height) {
      std::uint8_t* into = pixels + state_.decoder.output_scanline * row;
      JSAMPROW target = is_ink() ? line : into;
      (void)jpeg_read_scanlines(&state_.decoder, &target, 1);
      if (is_ink()) mix(line, into);
    }
    (void)jpeg_finish_decompress(&state_.decoder);
    return true;
  }

  [[nodiscard]] std::int64_t rows() const { return state_.decoder.image_height; }
  [[nodiscard]] std::int64_t columns() const { return state_.decoder.image_width; }
  [[nodiscard]] bool is_ink() const { return state_.decoder.out_color_space == JCS_CMYK; }
  [[noreturn]] void refuse_it(const Source& source) const { refuse(source, state_.at, state_.why); }

 private:
  // The colours that one row of inks makes on white paper. Adobe's programs store how much white
  // the inks leave, others how much ink there is.
  void mix(const std::uint8_t* inks, std::uint8_t* colours) const noexcept {
    const bool leaves_white = state_.decoder.saw_Adobe_marker != FALSE;
    for (JDIMENSION i = 0; i < state_.decoder.image_width; ++i, inks += kInkChannels)
      for (std::size_t c = 0; c < 3; ++c) {
        const unsigned ink = leaves_white ? inks[c] : kWhite - inks[c];
        const unsigned key = leaves_white ? inks[3] : kWhite - inks[3];
        *colours++ = static_cast<std::uint8_t>((ink * key + kWhite / 2) / kWhite);
      }
  }

  std::string_view file_;
  JpegState state_;
};

}  // namespace

bool is_jpeg(std::string_view file) { return file.starts_with("\xff\xd8\xff"); }

Picture decode_jpeg(const Source& source) {
  Jpeg jpeg(source.file);
  if (!jpeg.read_head()) jpeg.refuse_it(source);
  Picture picture = black(source, jpeg.rows(), jpeg.columns());
  const auto columns = static_cast<std::size_t>(picture.columns);
  std::vector<std::uint8_t> line(jpeg.is_ink() ? columns * kInkChannels : 0);
  if (!jpeg.read_rows(picture.pixels.data(), columns * 3, line.data())) jpeg.refuse_it(source);
  return picture;
}

}  // namespace pipedream::image
