// A file that torch.export.save wrote: the program and its tensors.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/mapped_file.h"
#include "pt2/program.h"
#include "pt2/zip.h"

namespace pipedream::pt2 {

// Immutable once opened, so safe to share between threads. The bytes of tensors stay in the file
// until they are used.
class Archive {
 public:
  // Opens the file and reads its program. Throws IoError if the file cannot be read, BadFile if its
  // content is damaged or no exported program, and CannotMeet if this version cannot use it.
  explicit Archive(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Program& program() const { return program_; }

  // The stored tensor of a parameter, buffer or constant. Requires that `input` is no user input.
  [[nodiscard]] const StoredTensor& stored(const Input& input) const;
  // The bytes of the entry that holds the tensor, at least bytes_needed() of them. StoredTensor has
  // the offset and strides of the elements. Throws BadFile if the entry's checksum is wrong.
  [[nodiscard]] std::string_view bytes_of(const Input& input) const;

 private:
  using Stored = std::map<std::string, StoredTensor>;

  [[nodiscard]] const ZipEntry& entry(const std::string& name) const;
  [[nodiscard]] std::string_view text(const std::string& name) const;
  [[nodiscard]] Stored read_stored(const std::string& folder, const std::string& list) const;
  [[nodiscard]] std::string name_in_message(const std::string& entry) const;
  void find_root();
  void check_tensors() const;

  std::filesystem::path path_;
  MappedFile file_;
  std::map<std::string, ZipEntry> entries_;  // by name
  std::string root_;                         // the folder of all entries, with a '/' at its end
  Program program_;
  Stored weights_;
  Stored constants_;
};

}  // namespace pipedream::pt2
