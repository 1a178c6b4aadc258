// The TLS certificate and key of a server or client, and the CAs by which it checks the other side.
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
  std::string cert = {};  // own certificate, then intermediate certificates
  std::string key = {};
  std::string ca = {};  // CAs of the peer; empty: the system's in a client, no check in a server
};

// The contents of TlsFiles, of which every part fits the others.
struct TlsIdentity {
  std::string cert, key, ca;  // PEM
  int64_t expires_s = 0;      // Unix time at which the certificate expires
  // Context for TLS 1.2 and later. Sessions are not resumed: each client's certificate is checked.
  std::shared_ptr<ssl_ctx_st> context;
};

// Reads the files `paths`. Errors name the command-line options `options`. Throws InputError
// if a file is unreadable or damaged, the certificate has expired, or the key belongs to another
// certificate or is readable by other users.
TlsIdentity read_identity(const TlsFiles& options, const TlsFiles& paths);

// Returns the content of a file of CAs. Throws InputError unless `path` has certificates only.
std::string read_ca(const std::string& option, const std::string& path);

// A TLS identity that follows changes of its files. Thread-safe; one thread at a time may reload.
class Certificates {
 public:
  // Throws InputError as read_identity() does.
  explicit Certificates(const TlsFiles& paths);

  // Returns the identity for new connections. After a change, a new object is returned.
  std::shared_ptr<const TlsIdentity> current() const;
  bool verifies_clients() const { return !paths_.ca.empty(); }

  // Reads the files again if they have changed. If files are damaged or do not fit each other, the
  // identity in memory stays in service.
  void reload_if_changed(bool at_once);

  ReloadCounts counts() const;
  std::string reload_error() const;  // why the files on disk are not used; empty: they are used

 private:
  const TlsFiles paths_;
  WatchedFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsIdentity> current_;
  ReloadCounts counts_;
  std::string trouble_;
};

}  // namespace yard
