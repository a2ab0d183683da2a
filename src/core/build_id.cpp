#include "core/build_id.h"

#include <cstring>
#include <functional>

#include <elf.h>
#include <link.h>

#include "core/text.h"

namespace pipedream {
namespace {

using Wanted = std::function<bool(const dl_phdr_info&)>;

// Notes and their names are padded to multiples of four bytes.
std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// The build id among the notes in these bytes of memory.
std::string id_among(const char* notes, std::size_t bytes) {
  constexpr std::string_view kOwner("GNU", 4);
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, notes + at, sizeof(note));
    const std::size_t name = at + sizeof(note);
    const std::size_t content = name + padded(note.n_namesz);
    at = content + padded(note.n_descsz);
    if (at > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(notes + name, note.n_namesz) == kOwner)
      return to_hex({notes + content, note.n_descsz});
  }
  return "";
}

std::string id_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr);
    if (std::string id = id_among(notes, part.p_memsz); !id.empty()) return id;
  }
  return "";
}

bool contains(const dl_phdr_info& object, ElfW(Addr) address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const ElfW(Addr) begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
  }
  return false;
}

std::string id_of_first(const Wanted& is_wanted) {
  struct Search {
    const Wanted& is_wanted;
    std::string id;
  } search{is_wanted, ""};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& of = *static_cast<Search*>(data);
        if (!of.is_wanted(*object)) return 0;
        of.id = id_of(*object);
        return 1;  // ends the iteration
      },
      &search);
  return search.id;
}

constexpr char kHere = 0;  // lies in the program or library that this file is linked into

}  // namespace

std::string build_id() {
  return id_of_first([](const dl_phdr_info& object) {
    return contains(object, reinterpret_cast<ElfW(Addr)>(&kHere));
  });
}

std::string build_id_of_library(const std::string& name) {
  return id_of_first([&](const dl_phdr_info& object) {
    const std::string_view path = object.dlpi_name != nullptr ? object.dlpi_name : "";
    return path.substr(path.rfind('/') + 1).find(name) != path.npos;
  });
}

}  // namespace pipedream
