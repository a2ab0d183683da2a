// The command lines that `launch` makes: mpirun's, and that of a training that goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pipedream::cli {

using Words = std::vector<std::string>;

// A host and how many processes run on it.
struct HostSlots {
  std::string name;
  int slots = 1;
  friend bool operator==(const HostSlots&, const HostSlots&) = default;
};
// Parses "a:2,b:2" or "a,b". Throws BadUsage for a text that is no such list, and for a host that
// is named twice.
[[nodiscard]] std::vector<HostSlots> parse_hosts(const std::string& text);

// The value of the flag `name` ("--out") among the words of a command: "--out X" or "--out=X". The
// last one counts.
[[nodiscard]] std::optional<std::string> value_of(const Words& command, const std::string& name);
// The words without that flag. `has_value`: whether the flag takes one.
[[nodiscard]] Words without(const Words& command, const std::string& name, bool has_value = true);

// The run folder of a training: that of --out, or else that of --resume. Empty if there is none.
[[nodiscard]] std::string run_folder_of(const Words& training);

// What goes on with a training that was lost. `has_checkpoint`: whether its run folder has one. If
// not, the training begins anew, in the same folder.
[[nodiscard]] Words continued(const Words& training, bool has_checkpoint);
// The training without what holds only for the number of workers that it was begun with.
[[nodiscard]] Words for_other_workers(const Words& training);

// What is known about the mpirun to use.
struct Mpirun {
  bool is_open_mpi = true;  // its options differ between implementations
  Words passed;             // further words for it
};
// The command that starts `processes` processes of `program`. `hosts` may be empty: then mpirun
// chooses.
[[nodiscard]] Words mpirun_words(const Mpirun& mpirun, int processes,
                                 const std::vector<HostSlots>& hosts, const Words& program);

}  // namespace pipedream::cli
