// pack: makes a checkpoint of a policy file, which can be served and compared like a trained one.
#include <cstdio>

#include "experiments/cli/command.h"
#include "experiments/search/pilot_checkpoint.h"

namespace yard::sim {
namespace {

int run_pack(CLI::App& app, int argc, char** argv) {
  std::string file, folder;
  std::vector<std::string> assignments;
  app.option_defaults()->group("Policy");
  app.add_option("--policy", file, "policy file of joint, as written by evolve")->required();
  app.add_option("--set", assignments, "key=value: override a setting of the file");
  app.option_defaults()->group("Output");
  app.add_option("--checkpoint", folder, "checkpoint folder to create")->required();
  set_examples(app, {"yardmaster pack --policy joint.yaml --checkpoint runs/joint"});
  if (!parse_arguments(app, argc, argv)) return 0;
  check_checkpoint_writable(folder);
  Settings set;
  for (const std::string& assignment : assignments) set.overlay(assignment, "--set");
  const Checkpoint made = checkpoint_from_policy_file(file, set);
  save_checkpoint(made, folder);
  std::printf("%s: pilot checkpoint with the rule of %s\n", folder.c_str(), file.c_str());
  return 0;
}

const Command kPack{"pack", "Make a checkpoint from a policy file.", run_pack};

}  // namespace
}  // namespace yard::sim
