// Makes certificates: an authority of our own, and what it issues.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <filesystem>
#include <memory>
#include <string>

namespace yard::testing {

struct IssuedCertificate {
  std::string cert, key;  // PEM
};

struct CertificateSpec {
  std::string hosts = "DNS:localhost,IP:127.0.0.1";  // as in openssl's subjectAltName
  long valid_s = 86'400;                             // from now; negative: it has expired
};

class Authority {
 public:
  Authority();
  const std::string& pem() const { return pem_; }
  IssuedCertificate issue(const CertificateSpec& spec = {}) const;

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  Key key_;
  Certificate certificate_;
  std::string pem_;
};

// Writes a file that only its owner may read. Readers see the previous content or the new one.
std::string write_secret(const std::filesystem::path& path, const std::string& content);

}  // namespace yard::testing
