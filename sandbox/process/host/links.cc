#include "sandbox/process/host/links.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/system_error.h"

namespace gangway::sandbox {
namespace {

// A netlink message as it grows; every part is aligned to four bytes.
class LinkRequest {
 public:
  template <class T>
  LinkRequest(std::uint16_t type, std::uint16_t flags, const T& head) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST | NLM_F_ACK);
    Append(&header, sizeof header);
    Append(&head, sizeof head);
  }
  void Add(std::uint16_t type, const void* data, std::size_t size) {
    const rtattr head{static_cast<unsigned short>(RTA_LENGTH(size)), type};
    Append(&head, sizeof head);
    Append(data, size);
  }
  void Add(std::uint16_t type, const std::string& text) { Add(type, text.c_str(), text.size() + 1); }
  void Add(std::uint16_t type, std::uint32_t value) { Add(type, &value, sizeof value); }
  // What is added until Close belongs to it.
  std::size_t Open(std::uint16_t type) {
    const std::size_t at = bytes_.size();
    Add(type, nullptr, 0);
    return at;
  }
  void Close(std::size_t at) {
    const auto size = static_cast<unsigned short>(bytes_.size() - at);
    std::memcpy(&bytes_[at], &size, sizeof size);
  }
  template <class T>
  void AddPlain(const T& value) {
    Append(&value, sizeof value);
  }
  std::string Finish() && {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof size);
    return std::move(bytes_);
  }

 private:
  void Append(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
    bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
  }
  std::string bytes_;
};

}  // namespace

Links::Links() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {}
Links::~Links() {
  if (fd_ >= 0) close(fd_);
}

absl::Status Links::Ask(std::string request, absl::string_view doing, int forgiven) {
  const auto failed = [&](int error) { return SystemError(doing, error); };
  if (fd_ < 0) return failed(EAFNOSUPPORT);
  if (send(fd_, request.data(), request.size(), 0) < 0) return failed(errno);
  char answer[4096];
  const ssize_t size = recv(fd_, answer, sizeof answer, 0);
  if (size < 0) return failed(errno);
  nlmsghdr header{};
  nlmsgerr error{};
  if (static_cast<std::size_t>(size) < sizeof header + sizeof error) return failed(EPROTO);
  std::memcpy(&header, answer, sizeof header);
  std::memcpy(&error, answer + sizeof header, sizeof error);
  if (header.nlmsg_type != NLMSG_ERROR) return failed(EPROTO);
  return error.error == 0 || -error.error == forgiven ? absl::OkStatus() : failed(-error.error);
}

std::uint32_t Links::IndexOf(const std::string& name) const {
  // The socket's namespace answers, not the thread's.
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return ioctl(fd_, SIOCGIFINDEX, &request) == 0 ? static_cast<std::uint32_t>(request.ifr_ifindex) : 0;
}

absl::Status Links::AddBridge(const std::string& name) {
  ifinfomsg head{};
  LinkRequest request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, head);
  request.Add(IFLA_IFNAME, name);
  const std::size_t info = request.Open(IFLA_LINKINFO);
  request.Add(IFLA_INFO_KIND, std::string("bridge"));
  request.Close(info);
  return Ask(std::move(request).Finish(), absl::StrCat("network bridge ", name));
}

absl::Status Links::AddPair(const std::string& name, const std::string& bridge, const std::string& peer,
                            int peer_namespace) {
  ifinfomsg head{};
  head.ifi_flags = IFF_UP;
  head.ifi_change = IFF_UP;
  LinkRequest request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, head);
  request.Add(IFLA_IFNAME, name);
  request.Add(IFLA_MASTER, IndexOf(bridge));
  const std::size_t info = request.Open(IFLA_LINKINFO);
  request.Add(IFLA_INFO_KIND, std::string("veth"));
  const std::size_t data = request.Open(IFLA_INFO_DATA);
  const std::size_t other = request.Open(VETH_INFO_PEER);
  request.AddPlain(ifinfomsg{});
  request.Add(IFLA_IFNAME, peer);
  request.Add(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer_namespace));
  request.Close(other);
  request.Close(data);
  request.Close(info);
  return Ask(std::move(request).Finish(), absl::StrCat("network devices ", name, " and ", peer));
}

absl::Status Links::SetUp(const std::string& name) {
  ifinfomsg head{};
  head.ifi_index = static_cast<int>(IndexOf(name));
  head.ifi_flags = IFF_UP;
  head.ifi_change = IFF_UP;
  return Ask(LinkRequest(RTM_NEWLINK, 0, head).Finish(), absl::StrCat("network device ", name));
}

absl::Status Links::AddAddress(const std::string& name, const std::string& ip, int prefix) {
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = static_cast<std::uint8_t>(prefix);
  head.ifa_index = IndexOf(name);
  in_addr address{};
  if (inet_pton(AF_INET, ip.c_str(), &address) != 1) return absl::InvalidArgumentError(absl::StrCat("address ", ip));
  LinkRequest request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, head);
  request.Add(IFA_LOCAL, &address, sizeof address);
  request.Add(IFA_ADDRESS, &address, sizeof address);
  return Ask(std::move(request).Finish(), absl::StrCat("address ", ip, " of ", name), EEXIST);
}

}  // namespace gangway::sandbox
