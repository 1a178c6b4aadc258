// The example of docs/guides/describe-a-cluster.md is a valid cluster.
// docs/reference/cluster-yaml.md has every key of the reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/cluster/spec.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using ::testing::HasSubstr;
using testing::TempFile;

TEST(ClusterDocument, ExampleIsAValidCluster) {
  const std::string page = read_file("docs/guides/describe-a-cluster.md");
  const std::string open = "cat > lab.yaml <<'END'\n";
  ASSERT_NE(page.find(open), std::string::npos);
  const size_t begin = page.find(open) + open.size();
  const TempFile file("example.yaml", page.substr(begin, page.find("END\n", begin) - begin));
  const ClusterSpec spec = load_cluster(file.path());
  EXPECT_EQ(spec.nodes.size(), 14u);
  EXPECT_EQ(spec.total_gpus(), 96);
  EXPECT_EQ(spec.tenants.size(), 2u);
}

// The reader lists all its keys in the error for an unknown one.
TEST(ClusterDocument, ListsEveryKey) {
  const std::string page = read_file("docs/reference/cluster-yaml.md");
  for (const char* yaml :
       {"unknown: 1\n", "nodes: [{unknown: 1}]\n", "nodes: [{gpus: 1}]\ntenants: [{unknown: 1}]\n",
        "tiers: {rack: {unknown: 1}}\n", "tiers: {unknown: 1}\n", "slowdowns: {unknown: 1}\n",
        "models: {a: {unknown: 1}}\n", "gpu_types: {a: {unknown: 1}}\n",
        "nodes_from: {file: a, format: lingjun, unknown: 1}\n"}) {
    const TempFile file("wrong.yaml", yaml);
    std::string message;
    try {
      load_cluster(file.path());
    } catch (const InputError& error) {
      message = error.what();
    }
    const std::string before = "one of the keys ";
    const size_t begin = message.find(before), end = message.find(", got '");
    ASSERT_NE(begin, std::string::npos) << yaml << message;
    const std::string keys = message.substr(begin + before.size(), end - begin - before.size());
    for (const std::string_view key : split(keys, ',')) {
      const bool tier = std::string_view(yaml).starts_with("tiers: {unknown");
      const std::string name(trim(key));
      EXPECT_THAT(page, HasSubstr(tier ? name : "`" + name + "`")) << yaml;
    }
  }
}

}  // namespace
}  // namespace yard
