#include "tests/serving/tls/authority.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>

#include "env/base/core/check.h"
#include "env/base/files/file.h"

namespace yard::testing {
namespace {

template <class Write>
std::string pem_of(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string pem_of(X509* certificate) {
  return pem_of([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

void add_extension(X509* to, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  YARD_CHECK(extension != nullptr, "no such extension");
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

// A certificate for `key`, without extensions and signature.
X509* draft(EVP_PKEY* key, const char* name, long valid_s) {
  static std::atomic<long> serial = 1000;
  X509* out = X509_new();
  X509_set_version(out, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(out), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(out), -7 * 86'400);
  X509_gmtime_adj(X509_getm_notAfter(out), valid_s);
  X509_set_pubkey(out, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(out), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return out;
}

}  // namespace

Authority::Authority()
    : key_(EVP_EC_gen("P-256"), EVP_PKEY_free),
      certificate_(draft(key_.get(), "Test authority", 86'400), X509_free) {
  X509* const own = certificate_.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  X509_sign(own, key_.get(), EVP_sha256());
  pem_ = pem_of(own);
}

IssuedCertificate Authority::issue(const CertificateSpec& spec) const {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate certificate(draft(key.get(), "Test", spec.valid_s), X509_free);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  add_extension(certificate.get(), certificate_.get(), NID_subject_alt_name, spec.hosts);
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return {pem_of(certificate.get()), pem_of([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

std::string write_secret(const std::filesystem::path& path, const std::string& content) {
  const std::filesystem::path fresh = path.string() + ".new";
  write_file_atomic(fresh, content);
  std::filesystem::permissions(fresh, std::filesystem::perms(0600));
  std::filesystem::rename(fresh, path);
  return path.string();
}

}  // namespace yard::testing
