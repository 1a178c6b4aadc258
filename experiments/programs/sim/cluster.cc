// cluster describe: prints a cluster's nodes, GPU types, tiers and tenants.
#include <fmt/format.h>

#include <cstdio>

#include "env/base/text/print.h"
#include "experiments/cli/command.h"
#include "experiments/cli/common_options.h"
#include "experiments/report/describe_cluster.h"
#include "experiments/report/text_table.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

// Prints the rows as an indented table. `columns`: "KEY=TITLE|KEY=TITLE".
void print_table(const Json& rows, const std::string& columns) {
  std::vector<std::string> keys, headings;
  for (const std::string_view column : split(columns, '|')) {
    const size_t equals = column.find('=');
    keys.emplace_back(column.substr(0, equals));
    headings.emplace_back((headings.empty() ? "  " : "") + std::string(column.substr(equals + 1)));
  }
  TextTable table(headings);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : keys)
      cells.push_back((cells.empty() ? "  " : "") + cell(row[key]));
    table.row(cells);
  }
  std::fputs(table.text().c_str(), stdout);
}

void print_text(const Json& c) {
  const auto text = [&](const char* key) { return cell(c[key]); };
  print_to(stdout, "{}{}{}\n\n", text("text"), c["about"].get<std::string>().empty() ? "" : ": ",
           text("about"));
  print_to(stdout, "{} nodes ({} without GPUs, {} spot), {} GPUs, at most {} per node\n",
           text("nodes"), text("nodes_without_gpus"), text("spot_nodes"), text("gpus"),
           text("max_gpus_per_node"));
  print_to(stdout, "{} racks, {} pods, {} zones\n", text("racks"), text("pods"), text("zones"));
  print_to(stdout, "per GPU: {} cores and {} GiB of host memory; in total: {} GiB of GPU memory\n",
           text("cpus_per_gpu"), text("mem_gib_per_gpu"), text("gpu_mem_gib"));
  print_to(stdout, "all GPUs: {} W idle, {} W busy, price {} per hour\n", text("gpus_idle_w"),
           text("gpus_busy_w"), text("price_per_h"));
  std::puts("\nGPU types");
  print_table(c["types"],
              "name=type|gpus=GPUs|nodes=nodes|mem_gib=GiB|speed=speed|idle_w=idle W|busy_w=busy W|"
              "price_per_h=price/h|shares=shares");
  for (const Json& type : c["types"]) {
    if (!type["speed_of_model"].empty()) {
      print_to(stdout, "  speeds of models on {}: {}\n", cell(type["name"]),
               type["speed_of_model"].dump());
    }
  }
  std::puts("\nnode kinds (Gbit/s: per GPU in its island and its node; network: per node)");
  print_table(c["kinds"],
              "nodes=nodes|gpus=GPUs|type=type|cpus=cores|mem_gib=GiB|islands=islands|"
              "island_gbps=island|node_gbps=node|nics=NICs|network_gbps=network|"
              "cpu_overload=overload|spot=spot");
  std::puts(
      "\ntiers (Gbit/s one way: least and most of one sender; bisection of the largest group)");
  print_table(
      c["tiers"],
      "name=tier|groups=groups|largest_gpus=largest, GPUs|sender=sender|least_gbps=least|"
      "most_gbps=most|latency_us=us|oversubscription=oversubscribed|bisection_gbps=bisection");
  if (c["tenants"].empty()) return;
  std::puts("\ntenants");
  print_table(c["tenants"],
              "name=tenant|quota_gpus=quota|limit_gpus=limit|nodes=own nodes|weight=weight|"
              "priority=priority|may_borrow=borrows|may_lend=lends|may_preempt=preempts");
}

int run_cluster(CLI::App& app, int argc, char** argv) {
  std::string cluster;
  bool json = false;
  app.require_subcommand(1);
  app.option_defaults()->group("Output");
  auto* describe =
      app.add_subcommand("describe", "print a cluster's nodes, GPU types, tiers and tenants");
  describe
      ->add_option(
          "cluster", cluster,
          "NODESxGPUS (8x8, 4x8:v100+4x8:k80), a name from `list clusters`, or a YAML file")
      ->type_name(kClusterType)
      ->required();
  describe->add_flag("--json", json, "print one JSON document");
  const std::vector<std::string> examples = {"yardmaster cluster describe philly",
                                             "yardmaster cluster describe 4x8:v100+4x8:k80"};
  set_examples(app, examples);
  set_examples(*describe, examples);
  if (!parse_arguments(app, argc, argv)) return 0;
  const Json out = describe_cluster(load_cluster(cluster));
  if (json) {
    std::fputs(json_text(out).c_str(), stdout);
  } else {
    print_text(out);
  }
  return 0;
}

const Command kCluster{"cluster", "Describe clusters.", run_cluster};

}  // namespace
}  // namespace yard::sim
