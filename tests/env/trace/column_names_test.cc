// Names of columns: separators, which column is meant, and names given by the caller.
#include "env/trace/core/column_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/core/error.h"

namespace yard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Header, SeparatorIsTheMostFrequent) {
  EXPECT_EQ(separator_of("a,b,c"), ',');
  EXPECT_EQ(separator_of("a;b;c"), ';');
  EXPECT_EQ(separator_of("a\tb"), '\t');
  EXPECT_EQ(separator_of("a|b"), '|');
  EXPECT_EQ(separator_of("\"a,b,c\";d"), ';') << "not within quotes";
  EXPECT_EQ(separator_of("a"), ',');
  EXPECT_THAT(split_column_names(" a ;\"b c\";", ';'), ElementsAre("a", "b c", ""));
  EXPECT_THAT(split_column_names("\"Run, s\",b", ','), ElementsAre("Run, s", "b"));
  EXPECT_THAT(split_column_names("\"a \"\"b, c\"\"\",d", ','), ElementsAre("a \"\"b, c\"\"", "d"));
  EXPECT_THAT(split_column_names("5\" disks,b", ','), ElementsAre("5\" disks", "b")) << "no quotes";
}

TEST(Header, MissingValuesAreRecognised) {
  for (const char* text : {"", " ", "NaN", "nan", "None", "NULL", "null", "<NA>", "N/A", "NaT"}) {
    EXPECT_TRUE(is_missing(text)) << text;
  }
  for (const char* text : {"0", "-", "nana", "No"}) EXPECT_FALSE(is_missing(text)) << text;
}

TEST(Header, NearestColumnIsSuggested) {
  const auto guess = [](const char* name, const std::vector<std::string>& columns) {
    return nearest_column(name, columns).value_or("");
  };
  EXPECT_EQ(guess("submit_s", {"id", "end_time", "submit_time"}), "submit_time");
  EXPECT_EQ(guess("submit_s", {"Arrival Time", "x"}), "Arrival Time");
  EXPECT_EQ(guess("submit_s", {"submt_s"}), "submt_s");
  EXPECT_EQ(guess("run_s", {"duration_sec", "gpus"}), "duration_sec");
  EXPECT_EQ(guess("run_s", {"RunTime"}), "RunTime");
  EXPECT_EQ(guess("gpus", {"cpus", "n_gpus"}), "n_gpus");
  EXPECT_EQ(guess("job_id", {"gpus", "JobName"}), "JobName");
  EXPECT_EQ(guess("job_id", {"gpus", "user"}), "");
  EXPECT_EQ(guess("start_s", {"status", "StartTime"}), "StartTime");
  EXPECT_EQ(guess("end_s", {"status", "finished_at"}), "finished_at");
  EXPECT_EQ(guess("start_s", {"status", "restarts"}), "");
  EXPECT_EQ(missing_column_advice({"submit_s"}, {"submit_time"}),
            "did you mean the column `submit_time`? --columns submit_s=submit_time");
  EXPECT_EQ(missing_column_advice({"run_s"}, {"user"}),
            "set the column with --columns run_s=COLUMN");
}

// What the advice prints can be given to a shell, and means the same column.
TEST(Header, NamesWithBlanksAndCommasAreQuoted) {
  EXPECT_EQ(missing_column_advice({"submit_s"}, {"Submit Time"}),
            "did you mean the column `Submit Time`? --columns 'submit_s=Submit Time'");
  EXPECT_EQ(missing_column_advice({"run_s"}, {"Run time, s"}),
            "did you mean the column `Run time, s`? --columns 'run_s=\"Run time, s\"'");
  std::vector<std::string> columns = {"Run time, s", "b"};
  rename_columns(parse_renames("run_s=\"Run time, s\",gpus=b", "--columns"), "t:1", columns);
  EXPECT_THAT(columns, ElementsAre("run_s", "gpus"));
}

TEST(Header, ColumnsAreRenamed) {
  std::vector<std::string> columns = {"a", "b", "submit_s"};
  rename_columns(parse_renames("job_id=A, submit_s=b", "--columns"), "t:1", columns);
  EXPECT_THAT(columns, ElementsAre("job_id", "submit_s", ""))
      << "the existing column of that name is replaced";
  const auto error_of = [](const char* renames) -> std::string {
    std::vector<std::string> names = {"JobName", "b"};
    try {
      rename_columns(parse_renames(renames, "--columns"), "t:1", names);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of("job_id"), HasSubstr("--columns: expected NAME=COLUMN"));
  EXPECT_THAT(error_of("a=b,a=b"), HasSubstr("each name once"));
  EXPECT_THAT(error_of("job_id=Jobname,x=c"), HasSubstr("a column 'c'"));
  EXPECT_THAT(error_of("job_id=JobNam"), HasSubstr("did you mean `JobName`?"));
}

}  // namespace
}  // namespace yard
