// Records of TensorBoard's event files. Each holds one tensorflow.Event. The protocol buffer is
// encoded by hand, because libtorch contains protobuf and a second copy in the process can clash
// with it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pipedream::train {

// The checksum CRC-32C of `bytes`, as RFC 3720 defines it.
[[nodiscard]] std::uint32_t crc32c(const std::string& bytes);

// `bytes` as a record of the file: its length, the content, and checksums of both.
[[nodiscard]] std::string framed(const std::string& bytes);

// The first record of a file. `wall_time`: in seconds since 1970.
[[nodiscard]] std::string version_event(double wall_time);
// A record with the values of some curves, by their tags, at `step`.
[[nodiscard]] std::string scalars_event(double wall_time, std::int64_t step,
                                        const std::vector<std::pair<std::string, double>>& values);

}  // namespace pipedream::train
