#include "runtime/placing.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <unistd.h>

#include "core/log.h"
#include "core/text.h"
#include "runtime/tags.h"
#include "transport/text_message.h"

namespace pipedream::runtime {
namespace {

using transport::Message;
using transport::Transport;

CoreOffer own_offer() {
  CoreOffer offer;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> offer.machine;
  offer.units = own_units();
  offer.machine_units = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return offer;
}

// The header has the size of the machine, then the units.
Message message_with(const CoreOffer& offer) {
  Message message = transport::text_message(offer.machine, {offer.machine_units});
  message.header.insert(message.header.end(), offer.units.begin(), offer.units.end());
  return message;
}

CoreOffer to_core_offer(const Message& message) {
  CoreOffer offer{.machine = transport::text_of(message), .units = {}, .machine_units = 0};
  offer.machine_units = static_cast<int>(message.header.at(0));
  for (std::size_t i = 1; i < message.header.size(); ++i)
    offer.units.push_back(static_cast<int>(message.header[i]));
  return offer;
}

Message message_with(const std::vector<WorkerId>& members) {
  Message message;
  for (const WorkerId member : members) message.header.push_back(member.value);
  return message;
}

std::vector<WorkerId> to_members(const Message& message) {
  std::vector<WorkerId> members;
  for (const std::int64_t member : message.header)
    members.push_back({static_cast<std::int32_t>(member)});
  return members;
}

bool overlap(const Units& a, const Units& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

// Worker 0 learns what all may use, and tells each with whom it divides its cores.
std::vector<WorkerId> agreed_members(Transport& control, int threads) {
  const WorkerId master{0};
  const CoreOffer mine = own_offer();
  if (control.me() != master) {
    control.send(master, kCores, message_with(mine));
    return to_members(next_message(control, master, kCores, kPatienceAtStart));
  }
  std::vector<CoreOffer> offers{mine};
  for (int w = 1; w < control.workers(); ++w)
    offers.push_back(to_core_offer(next_message(control, {w}, kCores, kPatienceAtStart)));
  if (const std::string note = tight_binding_note(offers, threads); !note.empty())
    log_warning(note);
  const auto shares = core_shares(offers);
  for (int w = 1; w < control.workers(); ++w)
    control.send({w}, kCores, message_with(shares[static_cast<std::size_t>(w)]));
  return shares[0];
}

// The first of the workers that divide cores chooses, and tells the others what it left out.
PlacedProcess choose_for(Transport& control, const std::vector<WorkerId>& members, int threads) {
  place::ChosenCores cores = place::choose_cores(static_cast<int>(members.size()), threads);
  for (const WorkerId member : members)
    if (member != control.me())
      control.send(member, kLeftOutCores,
                   {{cores.left_out.begin(), cores.left_out.end()}, {}, nullptr});
  if (cores.by_worker.empty()) return {};
  return {cores.by_worker.front(), std::move(cores.claims)};
}

// What the first of the workers has chosen for this one.
place::Placement hear_choice(Transport& control, const std::vector<WorkerId>& members,
                             int threads) {
  const Message told = next_message(control, members.front(), kLeftOutCores, kPatienceAtStart);
  Units left_out;
  for (const std::int64_t unit : told.header) left_out.push_back(static_cast<int>(unit));
  return place::placement(place::without(place::usable(), left_out),
                          static_cast<int>(transport::place_in(members, control.me())),
                          static_cast<int>(members.size()), threads)
      .value_or(place::Placement());
}

}  // namespace

std::vector<std::vector<WorkerId>> core_shares(const std::vector<CoreOffer>& by_worker) {
  std::vector<std::vector<WorkerId>> shares(by_worker.size());
  for (std::size_t w = 0; w < by_worker.size(); ++w)
    for (std::size_t other = 0; other < by_worker.size(); ++other) {
      const CoreOffer& mine = by_worker[w];
      const CoreOffer& theirs = by_worker[other];
      if (theirs.machine != mine.machine || !overlap(theirs.units, mine.units)) continue;
      if (theirs.units != mine.units) {
        shares[w].clear();
        break;
      }
      shares[w].push_back(id_at<WorkerId>(other));
    }
  return shares;
}

std::string tight_binding_note(const std::vector<CoreOffer>& by_worker, int threads) {
  if (by_worker.size() < 2) return "";
  const auto tight = std::count_if(by_worker.begin(), by_worker.end(), [&](const CoreOffer& offer) {
    return static_cast<int>(offer.units.size()) <= threads &&
           static_cast<int>(offer.units.size()) < offer.machine_units;
  });
  if (tight == 0) return "";
  return std::to_string(tight) + " of " + std::to_string(by_worker.size()) +
         " processes may run on no more cores than they compute with, so their messages wait until "
         "computation leaves a core: start mpirun with --bind-to none, or give each process a core "
         "more";
}

PlacedProcess place_process(Transport& control, int threads) {
  const std::vector<WorkerId> members = agreed_members(control, threads);
  if (members.empty()) return {};
  if (members.front() == control.me()) return choose_for(control, members, threads);
  return {hear_choice(control, members, threads), nullptr};
}

}  // namespace pipedream::runtime
