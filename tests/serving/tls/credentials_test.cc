// Files of tokens and certificates: what is refused, what is accepted, how they are replaced.
#include "serving/net/credentials.h"

#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/authority.h"

namespace yard::testing {
namespace {

const std::string kOld = "old-token-0123456789", kNew = "new-token-0123456789";

// Returns the error's text, or nothing if there is none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

class Files : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    return write_secret(temp_.path() / name, content);
  }

  TlsFiles identity(const IssuedCertificate& issued) const {
    return {.cert = write("cert.pem", issued.cert), .key = write("key.pem", issued.key)};
  }

  std::string flaw_of(const TlsFiles& files) const {
    return error_of([&] { read_identity({"CERT", "KEY", "CA"}, files); });
  }

  TempFolder temp_;
  Authority authority_;
};

TEST_F(Files, TokensAreComparedWhole) {
  const Tokens tokens("--token-file",
                      write("tokens", "# ours\n" + kOld + "\n\n  " + kNew + "\r\n"));
  EXPECT_TRUE(tokens.accept("Bearer " + kOld));
  EXPECT_TRUE(tokens.accept("bearer " + kNew));
  for (const std::string& wrong :
       std::vector<std::string>{"", "Bearer", "Bearer ", kOld, "Basic " + kOld,
                                "Bearer " + kOld + "x", "Bearer " + kOld.substr(1), "Bearer # ours",
                                "Bearer " + kOld + "\n" + kNew, "Bearer\t" + kOld}) {
    EXPECT_FALSE(tokens.accept(wrong)) << wrong;
  }
}

TEST_F(Files, TokensThatAreNoneAreRefused) {
  const auto flaw = [&](const std::string& content) {
    return error_of([&] { Tokens("--token-file", write("tokens", content)); });
  };
  EXPECT_NE(flaw("").find("1 to 100 tokens"), std::string::npos);
  EXPECT_NE(flaw("# " + kOld).find("1 to 100 tokens"), std::string::npos);
  EXPECT_NE(flaw(kOld + "\nshort\n").find("tokens:2: expected a token of 16"), std::string::npos);
  EXPECT_NE(flaw("with a blank, but long\n").find("visible ASCII"), std::string::npos);
  EXPECT_EQ(flaw("with a blank, but long\n").find("blank,"), std::string::npos) << "it is secret";
  const std::string path = write("tokens", kOld);
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  EXPECT_EQ(error_of([&] { Tokens("--token-file", path); }), "");
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  EXPECT_NE(error_of([&] { Tokens("--token-file", path); }).find("mode 644"), std::string::npos);
  EXPECT_NE(error_of([&] { Tokens("--token-file", "/nowhere"); }).find("--token-file: /nowhere"),
            std::string::npos);
}

TEST_F(Files, TokensAreReplacedWhileBothAreValid) {
  const std::string path = write("tokens", kOld);
  Tokens tokens("--token-file", path);
  const auto valid = [&] {
    return std::pair(tokens.accept("Bearer " + kOld), tokens.accept("Bearer " + kNew));
  };
  write("tokens", kOld + "\n" + kNew);
  tokens.reload_if_changed(false);
  EXPECT_EQ(valid(), std::pair(true, false)) << "until a second look finds the same";
  tokens.reload_if_changed(false);
  EXPECT_EQ(valid(), std::pair(true, true));
  write("tokens", "");
  tokens.reload_if_changed(true);
  EXPECT_EQ(valid(), std::pair(true, true));
  EXPECT_NE(tokens.reload_error().find("1 to 100 tokens"), std::string::npos);
  write("tokens", kNew);
  tokens.reload_if_changed(true);
  EXPECT_EQ(valid(), std::pair(false, true));
  EXPECT_EQ(tokens.reload_error(), "");
  tokens.reload_if_changed(true);
  EXPECT_EQ(tokens.counts().loaded, 2u);
  EXPECT_EQ(tokens.counts().refused, 1u);
}

TEST_F(Files, IdentitiesOfWhichAPartIsWrong) {
  const IssuedCertificate good = authority_.issue();
  TlsFiles files = identity(good);
  files.ca = write("ca.pem", authority_.pem());
  EXPECT_EQ(flaw_of(files), "");
  EXPECT_EQ(read_identity({}, files).cert, good.cert);

  write("cert.pem", authority_.issue({.valid_s = -60}).cert);
  EXPECT_NE(flaw_of(files).find("KEY: "), std::string::npos) << "another key";
  const IssuedCertificate expired = authority_.issue({.valid_s = -60});
  identity(expired);
  EXPECT_NE(flaw_of(files).find("got one that expired on "), std::string::npos) << flaw_of(files);
  identity(good);
  for (const std::string& damaged :
       {std::string(), std::string("no PEM"), good.key, good.cert.substr(0, good.cert.size() / 2),
        good.cert + good.cert.substr(0, good.cert.size() / 2)}) {
    write("cert.pem", damaged);
    EXPECT_NE(flaw_of(files).find("CERT: "), std::string::npos) << damaged;
  }
  identity(good);
  write("key.pem", good.cert);
  EXPECT_NE(flaw_of(files).find("KEY: "), std::string::npos);
  identity(good);
  write("ca.pem", "no PEM");
  EXPECT_NE(flaw_of(files).find("CA: "), std::string::npos);
  write("ca.pem", authority_.pem());
  std::filesystem::permissions(files.key, std::filesystem::perms(0604));
  EXPECT_NE(flaw_of(files).find("mode 604"), std::string::npos);
  EXPECT_NE(flaw_of({.cert = "/nowhere", .key = files.key}).find("CERT: /nowhere"),
            std::string::npos);
}

TEST_F(Files, IdentityOfWhichOnlyOneFileWasReplacedYetWaits) {
  Certificates certificates(identity(authority_.issue()));
  const auto first = certificates.current();
  const IssuedCertificate next = authority_.issue();
  write("cert.pem", next.cert);
  certificates.reload_if_changed(false);
  write("key.pem", next.key);
  certificates.reload_if_changed(false);
  EXPECT_EQ(certificates.current(), first);
  EXPECT_EQ(certificates.reload_error(), "") << "the files did not settle";
  certificates.reload_if_changed(false);
  EXPECT_EQ(certificates.current()->cert, next.cert);
  EXPECT_EQ(certificates.counts().loaded, 1u);

  write("key.pem", authority_.issue().key);
  certificates.reload_if_changed(true);
  EXPECT_EQ(certificates.current()->cert, next.cert);
  EXPECT_EQ(certificates.current()->key, next.key);
  EXPECT_NE(certificates.reload_error().find("--tls-key"), std::string::npos);
  EXPECT_EQ(certificates.counts().refused, 1u);
  std::filesystem::remove(temp_.path() / "key.pem");
  certificates.reload_if_changed(true);
  EXPECT_EQ(certificates.current()->key, next.key);
  EXPECT_EQ(certificates.counts().refused, 2u);
}

TEST_F(Files, AdminTokensForReadingDoNotWrite) {
  const std::string reader = "reader-token-0123456789", writer = "writer-token-0123456789";
  const std::string read = write("read", reader), all = write("all", writer);
  const auto access = [](const Credentials& by, const std::string& token) {
    return std::pair(by.allow_admin_read("Bearer " + token),
                     by.allow_admin_write("Bearer " + token));
  };
  using enum Access;
  const Credentials open({});
  EXPECT_EQ(access(open, ""), std::pair(kAllowed, kAllowed));
  const Credentials both({.admin_token_file = all, .admin_read_token_file = read});
  EXPECT_EQ(access(both, writer), std::pair(kAllowed, kAllowed));
  EXPECT_EQ(access(both, reader), std::pair(kAllowed, kForbidden));
  EXPECT_EQ(access(both, kOld), std::pair(kUnauthenticated, kUnauthenticated));
  const Credentials only_writer({.admin_token_file = all});
  EXPECT_EQ(access(only_writer, writer), std::pair(kAllowed, kAllowed));
  EXPECT_EQ(access(only_writer, reader), std::pair(kUnauthenticated, kUnauthenticated));
  const Credentials only_reader({.admin_read_token_file = read});
  EXPECT_EQ(access(only_reader, reader), std::pair(kAllowed, kForbidden));
  EXPECT_EQ(access(only_reader, writer), std::pair(kUnauthenticated, kUnauthenticated));
  EXPECT_EQ(both.decide(""), kAllowed) << "decisions have tokens of their own";
}

TEST_F(Files, PlainTextStaysOnThisMachine) {
  const auto flaw = [](const CredentialOptions& options, const std::string& address) {
    return error_of([&] { Credentials(options).require_tls_unless_local("--listen", address); });
  };
  for (const char* local :
       {"127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "localhost:1", ":1", "1", "unix:/tmp/a.sock"}) {
    EXPECT_EQ(flaw({}, local), "") << local;
  }
  const TlsFiles tls = identity(authority_.issue());
  for (const char* wide : {"0.0.0.0:1", "[::]:1", "192.0.2.1:1", "128.0.0.1:1"}) {
    EXPECT_NE(flaw({}, wide).find("--listen: expected a loopback address"), std::string::npos);
    EXPECT_NE(flaw({}, wide).find("--insecure"), std::string::npos);
    EXPECT_EQ(flaw({.insecure = true}, wide), "");
    EXPECT_EQ(flaw({.tls = tls}, wide), "");
  }
  const auto probes_flaw = [](const CredentialOptions& options) {
    return error_of([&] { Credentials(options).require_protected_probes_address("0.0.0.0:1"); });
  };
  EXPECT_NE(probes_flaw({}), "");
  EXPECT_EQ(probes_flaw({.probes_tls = ProbesTls::kOff}), "");
  const std::string tokens = write("tokens", kOld);
  EXPECT_NE(probes_flaw({.probes_tls = ProbesTls::kOff, .metrics_token_file = tokens}), "");
  EXPECT_EQ(probes_flaw({.tls = tls, .metrics_token_file = tokens}), "");

  EXPECT_NE(error_of([&] { Credentials({.tls = {.cert = tls.cert}}); }), "");
  EXPECT_NE(error_of([&] { Credentials({.tls = {.key = tls.key}}); }), "");
  EXPECT_NE(error_of([&] { Credentials({.tls = {.ca = tls.cert}}); }), "");
  EXPECT_NE(error_of([&] { Credentials({.probes_tls = ProbesTls::kServer}); }), "");
}

}  // namespace
}  // namespace yard::testing
