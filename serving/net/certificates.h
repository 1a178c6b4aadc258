// The certificate, key and client CAs that a server shows and checks with.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "serving/net/watched_files.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace yard {

// PEM files.
struct TlsFiles {
  std::string cert = {};  // the certificate, then those between it and the root
  std::string key = {};
  std::string ca = {};  // whose certificates the other side must have; empty: it needs none
};

// What these files hold, of which every part fits the others.
struct TlsIdentity {
  std::string cert, key, ca;  // PEM
  int64_t expires_s = 0;      // Unix time, of the certificate itself
  // For TLS 1.2 and later, without resumption, so that a client's certificate is always checked.
  std::shared_ptr<ssl_ctx_st> context;
};

// `options`: the names of the options that name the files, for errors. Throws InputError if a file
// is unreadable or damaged, the key belongs to another certificate or is readable by others, or
// the certificate has expired.
TlsIdentity read_identity(const TlsFiles& options, const TlsFiles& paths);

// Throws InputError unless `path` has certificates only. Returns its content.
std::string read_ca(const std::string& option, const std::string& path);

// An identity that follows its files. Thread-safe, but only one thread at a time may reload.
class Certificates {
 public:
  // Throws InputError as read_identity() does.
  explicit Certificates(const TlsFiles& paths);

  // For new connections. A change is a new object.
  std::shared_ptr<const TlsIdentity> current() const;
  bool checks_clients() const { return !paths_.ca.empty(); }

  // Reads the files again if they have changed. If they are damaged or do not fit each other, the
  // identity in memory stays in service.
  void reload_if_changed(bool at_once);

  ReloadCounts counts() const;
  std::string trouble() const;  // why the files on disk are not used; empty: they are

 private:
  const TlsFiles paths_;
  WatchedFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsIdentity> current_;
  ReloadCounts counts_;
  std::string trouble_;
};

}  // namespace yard
