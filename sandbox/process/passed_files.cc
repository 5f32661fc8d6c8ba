#include "sandbox/process/passed_files.h"

#include <sys/socket.h>

#include <cstring>

namespace gangway::sandbox {

ssize_t SendWithFile(int socket, absl::string_view bytes, int file) {
  iovec data{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t ReceiveWithFile(int socket, char* into, std::size_t size, int flags, int& file) {
  file = -1;
  iovec data{into, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  const cmsghdr* const head = got < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
    std::memcpy(&file, CMSG_DATA(head), sizeof file);
  return got;
}

}  // namespace gangway::sandbox
