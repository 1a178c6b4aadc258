// A caller of a server's port below the level of any protocol.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace yard::testing {

// A connection as a hostile peer has it: nothing is sent or read but by these calls.
class Peer {
 public:
  explicit Peer(const std::string& address);  // IPv4:PORT
  ~Peer();
  Peer(Peer&& other) noexcept;

  // Returns false if the other side has closed.
  bool send(std::string_view text) const;

  // Reads until `until` appears, the other side closes or `most` passes.
  std::string read(const std::string& until, std::chrono::milliseconds most) const;

  // Whether the other side has not closed. Requires: it has sent nothing.
  bool is_open() const;

 private:
  void end();

  int fd_ = -1;
};

}  // namespace yard::testing
