// Communicator by c10d and Gloo. Uses only classes of c10d which LibTorch 1.13 and 2 share.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "agents/kernels/torch.h"
#include "agents/ranks/connect.h"
#include "env/base/core/error.h"

namespace yard {
namespace {

// Returns the address of this host on the route to `host`, at which the other ranks reach it. A
// connected datagram socket has this address; nothing is sent.
std::string address_towards(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) throw InputError("MASTER_ADDR", "a host name that resolves", host);
  std::string out;
  for (const addrinfo* at = found; at != nullptr && out.empty(); at = at->ai_next) {
    const int fd = ::socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    char text[NI_MAXHOST];
    if (::connect(fd, at->ai_addr, at->ai_addrlen) == 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
        getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      out = text;
    }
    ::close(fd);
  }
  freeaddrinfo(found);
  if (out.empty()) throw InputError("MASTER_ADDR", "a reachable host", host);
  return out;
}

c10::intrusive_ptr<c10d::Store> open_store(const Rank& rank, std::chrono::milliseconds wait) {
  if (!rank.file.empty()) {
    auto store = c10::make_intrusive<c10d::FileStore>(rank.file, rank.size);
    store->setTimeout(wait);
    return store;
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(rank.port);
  options.isServer = rank.rank == 0 && !rank.store_exists;
  options.waitWorkers = false;
  options.timeout = wait;
  return c10::make_intrusive<c10d::TCPStore>(rank.host, options);
}

class Gloo final : public Communicator {
 public:
  Gloo(const Rank& rank, const ConnectOptions& options) : rank_(rank) {
    attempt("did not connect in time", [&] {
      store_ = open_store(rank, options.rendezvous_timeout);
      // Gloo has a single timeout. To wait for missing ranks with another one, ask the store first.
      if (store_->add("here", 1) == rank.size) store_->set("all", std::vector<uint8_t>{1});
      store_->wait({"all"}, options.rendezvous_timeout);
      auto gloo = c10d::ProcessGroupGloo::Options::create(options.response_timeout);
      const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
      gloo->devices.push_back(
          interface != nullptr
              ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
              : c10d::ProcessGroupGloo::createDeviceForHostname(
                    rank.file.empty() ? address_towards(rank.host, rank.port) : "127.0.0.1"));
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store_, rank.rank, rank.size, gloo);
    });
  }

  int rank() const override { return rank_.rank; }
  int size() const override { return rank_.size; }

  void sum(std::span<float> values) override { sum_up(values, torch::kFloat32); }
  void sum(std::span<double> values) override { sum_up(values, torch::kFloat64); }

  std::string broadcast(std::string bytes) override {
    bytes.resize(static_cast<size_t>(broadcast_number(static_cast<int64_t>(bytes.size()))));
    attempt("has exited or does not respond", [&] {
      std::vector<at::Tensor> tensors = {bytes_of(bytes)};
      group_->broadcast(tensors)->wait();
    });
    return bytes;
  }

  std::vector<std::string> gather(std::string bytes) override {
    std::vector<double> sizes(static_cast<size_t>(size()), 0.0);
    sizes[static_cast<size_t>(rank())] = static_cast<double>(bytes.size());
    sum(sizes);
    size_t longest = 1;
    for (const double s : sizes) longest = std::max(longest, static_cast<size_t>(s));
    bytes.resize(longest);
    const bool root = rank() == 0;
    std::vector<std::string> all(root ? static_cast<size_t>(size()) : 0,
                                 std::string(longest, '\0'));
    attempt("has exited or does not respond", [&] {
      std::vector<at::Tensor> mine = {bytes_of(bytes)};
      std::vector<std::vector<at::Tensor>> theirs;
      if (root) theirs.emplace_back();
      for (std::string& one : all) theirs[0].push_back(bytes_of(one));
      group_->gather(theirs, mine)->wait();
    });
    for (size_t r = 0; r < all.size(); ++r) all[r].resize(static_cast<size_t>(sizes[r]));
    return all;
  }

 private:
  static at::Tensor bytes_of(std::string& bytes) {
    return torch::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, torch::kUInt8);
  }

  int64_t broadcast_number(int64_t number) {
    attempt("has exited or does not respond", [&] {
      std::vector<at::Tensor> tensors = {torch::from_blob(&number, {1}, torch::kInt64)};
      group_->broadcast(tensors)->wait();
    });
    return number;
  }

  template <class T>
  void sum_up(std::span<T> values, torch::ScalarType type) {
    attempt("has exited or does not respond", [&] {
      std::vector<at::Tensor> tensors = {
          torch::from_blob(values.data(), {static_cast<int64_t>(values.size())}, type)};
      group_->allreduce(tensors)->wait();
    });
  }

  // Exceptions of Gloo and c10d name a place in Gloo; ours names the problem.
  template <class F>
  void attempt(const char* what, F&& f) const {
    std::string why;
    try {
      f();
      return;
    } catch (const InputError&) {
      throw;
    } catch (const c10::Error& e) {
      why = e.what_without_backtrace();
    } catch (const std::exception& e) {
      why = e.what();
    }
    throw RunError("rank " + std::to_string(rank_.rank) + " of " + std::to_string(rank_.size) +
                   ": another rank " + what + " (" + why.substr(0, why.find('\n')) + ")");
  }

  Rank rank_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Communicator> connect(const Rank& rank, const ConnectOptions& options) {
  if (rank.size == 1) return single_process_communicator();
  return std::make_unique<Gloo>(rank, options);
}

}  // namespace yard
