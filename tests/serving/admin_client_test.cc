// What `yardmaster status` and `reload` learn from servers.
#include "serving/net/admin_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/net/client.h"
#include "serving/net/server.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kAdminDeadline{60};

AdminAnswer call_one(const std::string& address, AdminCall call) {
  return call_admin({.servers = {address}}, call, kAdminDeadline).at(0);
}

TEST(AdminClient, StatusTellsOfTheBreakerAndResetClosesIt) {
  ServerOptions options;
  options.listen = options.admin = "127.0.0.1:0";
  options.policy = "test-throws";
  options.engine.budget_ms = 60'000;
  options.engine.breaker = {.at_least = 2, .open_s = 3600};
  options.grace_s = 0;
  Server server(options);
  EXPECT_EQ(call_one(server.admin_address(), AdminCall::kStatus).status.breaker(), "closed");
  Client client({.to = {.servers = {server.address()}}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(client.decide(full_cluster(), kAdminDeadline).reason(), pb::POLICY_ERROR);
  }
  EXPECT_EQ(client.decide(full_cluster(), kAdminDeadline).reason(), pb::BREAKER_OPEN);
  const AdminAnswer open = call_one(server.admin_address(), AdminCall::kStatus);
  EXPECT_EQ(open.status.breaker(), "open");
  EXPECT_THAT(open.status.breaker_detail(), HasSubstr("the policy failed 2 of 2 decisions"));
  EXPECT_EQ(call_one(server.admin_address(), AdminCall::kResetBreaker).status.breaker(), "closed");
  EXPECT_EQ(client.decide(full_cluster(), kAdminDeadline).reason(), pb::POLICY_ERROR);
}

TEST(AdminClient, APortWithoutTheServiceIsNamed) {
  ServerOptions options;
  options.listen = "127.0.0.1:0";
  options.policy = "las";
  options.grace_s = 0;
  Server server(options);
  EXPECT_EQ(call_one(server.address(), AdminCall::kStatus).error,
            "no admin service: name the server's address of --admin");
}

}  // namespace
}  // namespace yard::testing
