#include "serving/net/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <ctime>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/wall_clock.h"

namespace yard {
namespace {

const TlsFiles kServerFiles = {"--tls-cert", "--tls-key", "--tls-client-ca"};

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// Returns OpenSSL's last error.
std::string ssl_error() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "unknown error" : reason;
}

Bio reader_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without it OpenSSL asks on the terminal for the passphrase of an encrypted key.
int no_passphrase(char*, int, int, void*) { return -1; }

std::vector<Certificate> certificates_in(const std::string& where, const std::string& pem) {
  ERR_clear_error();
  std::vector<Certificate> out;
  const Bio bio = reader_of(pem);
  while (Certificate one{PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    out.push_back(std::move(one));
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (out.empty() || !ended) throw InputError(where, "certificates in PEM", ssl_error());
  ERR_clear_error();
  return out;
}

std::string text_of(const std::string& option, const std::string& path) {
  try {
    return read_file(path);
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

int64_t expiry_of(const X509* certificate) {
  std::tm at{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &at) != 1) return 0;
  return timegm(&at);
}

}  // namespace

std::string read_ca(const std::string& option, const std::string& path) {
  std::string out = text_of(option, path);
  certificates_in(option + ": " + path, out);
  return out;
}

TlsIdentity read_identity(const TlsFiles& options, const TlsFiles& paths) {
  TlsIdentity out;
  out.cert = text_of(options.cert, paths.cert);
  out.key = read_secret(options.key, paths.key);
  out.context = {SSL_CTX_new(TLS_method()), SSL_CTX_free};
  SSL_CTX* const context = out.context.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);

  const std::string cert_where = options.cert + ": " + paths.cert;
  const std::vector<Certificate> chain = certificates_in(cert_where, out.cert);
  if (SSL_CTX_use_certificate(context, chain[0].get()) != 1) {
    throw InputError(cert_where, "a certificate that is strong enough", ssl_error());
  }
  for (size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context, chain[i].get());

  const std::string key_where = options.key + ": " + paths.key;
  const Bio bio = reader_of(out.key);
  const Key key{PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)};
  if (key == nullptr) {
    throw InputError(key_where, "a private key in PEM without a passphrase", ssl_error());
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    throw InputError(key_where, "the key of the certificate in " + paths.cert, ssl_error());
  }
  out.expires_s = expiry_of(chain[0].get());
  if (out.expires_s <= std::time(nullptr)) {
    throw InputError(cert_where, "a valid certificate",
                     "one that expired on " + date_text(out.expires_s) + " UTC");
  }
  if (paths.ca.empty()) return out;
  out.ca = text_of(options.ca, paths.ca);
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const Certificate& one : certificates_in(options.ca + ": " + paths.ca, out.ca)) {
    X509_STORE_add_cert(store, one.get());
    SSL_CTX_add_client_CA(context, one.get());
  }
  return out;
}

Certificates::Certificates(const TlsFiles& paths)
    : paths_(paths),
      files_(paths.ca.empty() ? std::vector{paths.cert, paths.key}
                              : std::vector{paths.cert, paths.key, paths.ca}),
      current_(std::make_shared<const TlsIdentity>(read_identity(kServerFiles, paths))) {}

std::shared_ptr<const TlsIdentity> Certificates::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Certificates::reload_if_changed(bool at_once) {
  if (!files_.changed(at_once)) return;
  std::shared_ptr<const TlsIdentity> next;
  std::string trouble;
  try {
    next = std::make_shared<const TlsIdentity>(read_identity(kServerFiles, paths_));
  } catch (const InputError& error) {
    trouble = error.what();
  }
  const std::lock_guard lock(mutex_);
  ++(next != nullptr ? counts_.loaded : counts_.refused);
  if (next != nullptr) current_ = std::move(next);
  trouble_ = std::move(trouble);
}

ReloadCounts Certificates::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Certificates::reload_error() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace yard
