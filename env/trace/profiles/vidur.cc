// All-reduce times published with Vidur (MLSys 2024): `NODES/all_reduce.csv`, milliseconds by
// message size, GPUs and GPUs per node, one row per rank. Uses the median of a rank's repetitions.
#include "env/base/config/registry.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

constexpr const char* kTime = "time_stats.all_reduce.median";

struct Vidur final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    const std::string nodes = folder_name(lines.name());
    MeasurementTable table(lines);
    const int time = table.column(kTime), bytes = table.column("size");
    const int gpus = table.column("num_workers"), per_node = table.column("devices_per_node");
    while (table.next()) {
      const MeasuredAllReduce one{nodes, table.count(gpus), table.count(per_node),
                                  table.positive_number(bytes), table.positive_number(time) / 1000};
      if (one.gpus % one.gpus_per_node != 0) table.refuse(per_node, "a divisor of num_workers");
      out.all_reduces.push_back(one);
    }
  }
};

const Registry<ProfileReader>::Add<Vidur> kAdd{
    "vidur",
    {.help = "all-reduce times on A100 and H100 nodes (Vidur, MLSys 2024)",
     .example_path = "a100_dgx/all_reduce.csv",
     .columns = {kTime, "num_workers", "size", "devices_per_node"},
     .example = ",time_stats.all_reduce.median,rank,num_workers,size,collective,devices_per_node\n"
                "0,0.043,0,2,2048,all_reduce,1\n"
                "1,0.6,0,4,67108864,all_reduce,4\n"}};

}  // namespace
}  // namespace yard
