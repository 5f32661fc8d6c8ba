#include "kube/serve/unread.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gangway::kube {
namespace {

constexpr std::size_t kEntryBytes = 64;  // of one piece in the queue of one client, here and at its connection

}  // namespace

void Unread::FallBehind(ConnectionId client, std::shared_ptr<Mailbox> mailbox, absl::Span<const Bytes> pieces,
                        std::size_t taken, SteadyTime now) {
  std::vector<Cut> cuts;
  {
    MutexLock lock(mu_);
    Client& entry = clients_[client];
    entry.mailbox = std::move(mailbox);
    entry.lately = static_cast<double>(taken);
    entry.at = now;
    Hold(entry, pieces);
    cuts = MakeRoom(now);
  }
  Tell(cuts);
}

void Unread::Append(ConnectionId client, absl::Span<const Bytes> pieces, SteadyTime now) {
  std::vector<Cut> cuts;
  {
    MutexLock lock(mu_);
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    Hold(found->second, pieces);
    cuts = MakeRoom(now);
  }
  Tell(cuts);
}

void Unread::Drop(ConnectionId client, std::size_t count, std::size_t own) {
  MutexLock lock(mu_);
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  Release(found->second, count);
  SetOwn(found->second, own);
}

void Unread::Take(ConnectionId client, std::size_t taken, SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.lately = LatelyAt(found->second, now) + static_cast<double>(taken);
  found->second.at = now;
}

void Unread::Forget(ConnectionId client) {
  MutexLock lock(mu_);
  Remove(client);
}

std::size_t Unread::bytes() const {
  MutexLock lock(mu_);
  return bytes_;
}

void Unread::Hold(Client& client, absl::Span<const Bytes> pieces) {
  for (const Bytes& bytes : pieces) {
    Piece& piece = pieces_[bytes.get()];
    if (piece.holders++ == 0) bytes_ += piece.size = bytes->size();
    client.pieces.push_back(bytes);
  }
  bytes_ += pieces.size() * kEntryBytes;
}

void Unread::Release(Client& client, std::size_t count) {
  count = std::min(count, client.pieces.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto piece = pieces_.find(client.pieces.front().get());
    if (--piece->second.holders == 0) {
      bytes_ -= piece->second.size;
      pieces_.erase(piece);
    }
    client.pieces.pop_front();
  }
  bytes_ -= count * kEntryBytes;
}

void Unread::SetOwn(Client& client, std::size_t own) {
  bytes_ += own;
  bytes_ -= std::exchange(client.own, own);
}

void Unread::Remove(ConnectionId client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  Release(found->second, found->second.pieces.size());
  SetOwn(found->second, 0);
  clients_.erase(found);
}

std::vector<Unread::Cut> Unread::MakeRoom(SteadyTime now) {
  std::vector<Cut> cuts;
  while (bytes_ > budget_ && !clients_.empty()) {
    const auto slowest = std::min_element(clients_.begin(), clients_.end(), [now](const auto& a, const auto& b) {
      return std::make_pair(LatelyAt(a.second, now), a.first) < std::make_pair(LatelyAt(b.second, now), b.first);
    });
    cuts.push_back({slowest->second.mailbox, slowest->first});
    Remove(slowest->first);
  }
  return cuts;
}

void Unread::Tell(const std::vector<Cut>& cuts) {
  for (const Cut& cut : cuts) {
    Mail mail;
    mail.what = Mail::What::kCut;
    mail.to = cut.client;
    cut.mailbox->Put(std::move(mail));
  }
}

double Unread::LatelyAt(const Client& client, SteadyTime now) {
  return client.lately *
         std::exp2(-std::chrono::duration<double>(std::max(now - client.at, SteadyTime::duration::zero())).count());
}

}  // namespace gangway::kube
