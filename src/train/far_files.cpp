#include "train/far_files.h"

#include "checkpoint/folder.h"
#include "core/error.h"
#include "core/file.h"
#include "runtime/failure.h"
#include "runtime/tags.h"
#include "runtime/tensor_message.h"
#include "train/resume.h"
#include "transport/text_message.h"

namespace pipedream::train {
namespace {

constexpr WorkerId kFirst{0};
constexpr int kAsk = 1;     // a tensor's name; an empty one is the last
constexpr int kAnswer = 2;  // the kind of the answer, and then the tensor, if there is one
enum Kind : std::int64_t { kNone, kTensor, kFailure };

using transport::text_message;
using transport::text_of;

}  // namespace

bool sees_folder(transport::Transport& control, const std::filesystem::path& folder,
                 std::chrono::milliseconds patience) {
  const auto hear = [&](WorkerId from) {
    return runtime::next_message(control, from, runtime::kFolder, patience);
  };
  if (control.me() != kFirst) {
    const std::string token = text_of(hear(kFirst));
    const bool sees = token.empty() || is_there(folder / token);
    control.send(kFirst, runtime::kFolder, {});
    return sees;
  }
  std::string token = checkpoint::temporary_name("token-" + new_run_id());
  try {
    write_file_atomically(folder / token, "");
  } catch (const IoError&) {
    token.clear();
  }
  for (int w = 1; w < control.workers(); ++w)
    control.send({w}, runtime::kFolder, text_message(token));
  for (int w = 1; w < control.workers(); ++w) (void)hear({w});
  std::error_code ignored;
  if (!token.empty()) std::filesystem::remove(folder / token, ignored);
  return true;
}

TensorServer::TensorServer(transport::Transport& channel, runtime::FindTensor find,
                           std::vector<WorkerId> clients)
    : channel_(channel), find_(std::move(find)) {
  thread_ = std::thread([this, all = std::move(clients)]() mutable {
    try {
      serve(std::move(all));
    } catch (const WorkerLost&) {  // the clients, and the worker's thread, hear of it themselves
    }
  });
}

TensorServer::~TensorServer() { thread_.join(); }

// Waits without a deadline: a client that is lost aborts the channel.
void TensorServer::serve(std::vector<WorkerId> clients) {
  std::vector<transport::Ticket> tickets;
  for (const WorkerId client : clients) tickets.push_back(channel_.receive(client, kAsk));
  while (!clients.empty()) {
    const transport::Arrival asked = channel_.wait_any(tickets, transport::Deadline::max());
    const auto place = static_cast<std::ptrdiff_t>(asked.ticket);
    const WorkerId client = clients[asked.ticket];
    const std::string name = text_of(asked.message);
    tickets.erase(tickets.begin() + place);
    clients.erase(clients.begin() + place);
    if (name.empty()) continue;
    try {
      const std::optional<at::Tensor> found = find_(name);
      channel_.send(client, kAnswer, text_message("", {found ? kTensor : kNone}));
      if (found) channel_.send(client, kAnswer, runtime::to_message(*found));
    } catch (const transport::Aborted&) {
      throw;
    } catch (const std::exception& error) {  // also libtorch's, if there is no memory left
      channel_.send(client, kAnswer, text_message(error.what(), {kFailure}));
    }
    tickets.push_back(channel_.receive(client, kAsk));
    clients.push_back(client);
  }
}

TensorClient::~TensorClient() { channel_.send(kFirst, kAsk, text_message("")); }

std::optional<at::Tensor> TensorClient::find(const std::string& name) {
  const auto next = [this] {
    return channel_.wait(channel_.receive(kFirst, kAnswer),
                         std::chrono::steady_clock::now() + patience_);
  };
  channel_.send(kFirst, kAsk, text_message(name));
  const transport::Message answer = next();
  if (answer.header.at(0) == kFailure) throw BadFile(text_of(answer));
  if (answer.header.at(0) == kNone) return std::nullopt;
  return runtime::to_tensor(next());
}

}  // namespace pipedream::train
