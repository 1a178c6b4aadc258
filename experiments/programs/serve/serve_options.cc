#include "experiments/programs/serve/serve_options.h"

#include "env/base/core/error.h"
#include "experiments/cli/arguments.h"
#include "experiments/cli/option_file.h"
#include "experiments/programs/serve/credential_options.h"

namespace yard {
namespace {

constexpr const char *kCommand = "serve", *kConfig = "--config";

void add_serve_options(CLI::App& app, ServeOptions& out) {
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("File");
  app.add_option(kConfig, out.config,
                 "YAML file of these options, without --; options on the command line win over it");
  app.option_defaults()->group("Model");
  auto* folder =
      app.add_option("--checkpoint", out.checkpoint,
                     "folder of a trained policy; without it and --policy, the fallback decides");
  app.add_option("--policy", out.server.policy,
                 "a registered policy or a tuned policy's file, instead of --checkpoint")
      ->type_name(kPolicyType)
      ->excludes(folder);
  app.add_option("--name", out.server.name,
                 "name of the model; default: that of the folder or policy");
  app.add_option("--model", out.models,
                 "NAME=POLICY or NAME=checkpoint:DIR: a further model, which requests ask for by "
                 "its name")
      ->type_name("NAME=POLICY");
  app.add_option("--models-file", out.server.models_file,
                 "file that keeps what `yardmaster models` changes (modes, candidates, promotions) "
                 "over a restart; default: not kept");
  app.add_option("--fallback", out.server.engine.fallback,
                 "heuristic that decides if the policy cannot")
      ->type_name(kPolicyType);
  app.option_defaults()->group("Addresses");
  app.add_option("--listen", out.server.listen,
                 "HOST:PORT, PORT on loopback or unix:PATH for gRPC; port 0 selects a free port");
  app.add_option("--http", out.server.http,
                 "address for /metrics, /readyz, /v1/decide, /k8s/filter, ...");
  app.add_option("--probes", out.server.probes,
                 "second address for /livez, /readyz and /metrics, which callers of --http cannot "
                 "block");
  app.add_option("--admin", out.server.admin, "address for the service ModelAdmin");
  add_credential_options(app, out.server.credentials);
  app.option_defaults()->group("Limits");
  app.add_option("--budget-ms", out.server.engine.budget_ms,
                 "time limit of a decision in milliseconds, if the request sets none")
      ->check(CLI::Range(0.1, 3.6e6));
  app.add_option("--threads", out.server.engine.threads, "threads that run policies")
      ->check(CLI::Range(1, 256));
  app.add_option("--max-jobs", out.server.engine.max_jobs,
                 "maximum jobs in a snapshot for the policy; the fallback decides larger snapshots")
      ->check(CLI::Range(1, 1 << 18));
  app.add_option("--max-message-mib", out.server.max_message_mib,
                 "maximum size of a request in MiB; larger requests are refused")
      ->check(CLI::Range(1, 1024));
  app.add_option("--max-connections", out.server.max_connections,
                 "maximum connections to --listen; further ones are closed")
      ->check(CLI::Range(16, 1 << 20));
  app.add_option("--grace", out.server.grace_s, "seconds from 'not ready' to shutdown")
      ->check(CLI::Range(0.0, 3600.0));
  PreemptionLimitOptions& limits = out.server.engine.preemptions;
  app.option_defaults()->group("Preemptions");
  app.add_option("--preempted-share", limits.gpu_share,
                 "maximum share of the cluster's GPUs to take from running jobs within "
                 "--preempted-within; one job may have more; 0: none, 1: no limit")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--preempted-within", limits.interval_s, "seconds, for --preempted-share")
      ->check(CLI::Range(1.0, 3600.0));
  app.add_option("--preemptions-per-job", limits.per_job, "maximum preemptions of a job per hour")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--min-run", limits.min_run_s,
                 "seconds for which a job runs before it may be preempted")
      ->check(CLI::Range(0.0, 1e9));
  app.option_defaults()->group("Guards");
  app.add_option("--breaker-share", out.server.engine.breaker.failed_share,
                 "share of the last 100 decisions that the policy may fail; beyond it the fallback "
                 "decides for a while; 1: no limit")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--breaker-open", out.server.engine.breaker.open_s,
                 "seconds until the policy is tried again, doubled after each failed trial")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--max-idle", out.server.engine.max_idle_s,
                 "seconds for which a checkpoint may leave GPUs idle while the fallback would "
                 "start a job; 0: without limit")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--max-wait", out.server.engine.max_wait_s,
                 "seconds after which the heuristic easy places a waiting job first; 0: never")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option(
         "--envelope-tolerance", out.server.engine.envelope_tolerance,
         "factor by which a snapshot may exceed what a checkpoint met in training, beyond "
         "which the fallback decides, such as 4 times as many waiting jobs; 0: without limit")
      ->check([](const std::string& text) {
        const std::optional<double> factor = parse_double(text);
        const bool right = factor && (*factor == 0 || (*factor >= 1 && *factor <= 1e9));
        return right ? "" : "expected 0 or a factor from 1 to 1e9, got '" + text + "'";
      });
  app.add_option(
         "--max-age", out.server.engine.max_age_s,
         "age of a snapshot (age_s) in seconds, beyond which nothing is decided; 0: no limit")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--valid-for", out.server.engine.valid_s, "seconds until the actions expire")
      ->check(CLI::Range(0.1, 1e9));
  app.option_defaults()->group("Kubernetes");
  app.add_option("--extender-cluster", out.server.extender.cluster,
                 "cluster whose snapshots tell the scheduler extender which GPUs are in use; "
                 "default: any");
  app.add_option("--extender-memory", out.server.extender.memory_s,
                 "seconds for which the scheduler extender assumes that a pod runs on the node "
                 "with its best score, unless a snapshot says otherwise")
      ->check(CLI::Range(1.0, 1e6));
  app.option_defaults()->group("Decision log");
  auto* log = app.add_option("--decision-log", out.server.log.folder,
                             "folder for a log of all decisions, for training");
  app.add_option("--decision-log-mib", out.server.log.max_mib,
                 "maximum total size of the log in MiB; the oldest files are deleted first")
      ->check(CLI::Range(2, 1 << 30))
      ->needs(log);
  app.add_option("--decision-log-file-mib", out.server.log.file_mib,
                 "maximum size of a log file in MiB")
      ->check(CLI::Range(1, 1024))
      ->needs(log);
  app.add_option("--decision-log-sync", out.server.log.sync_s,
                 "seconds after which a record would survive a power cut; 0: at once; without it, "
                 "when the system decides")
      ->check(CLI::Range(0.0, 3600.0))
      ->needs(log);
  app.option_defaults()->group("Output");
  app.add_option_function<std::string>(
         "--log-format",
         [&out](const std::string& word) {
           out.log_format = word == "json" ? LogFormat::kJson : LogFormat::kText;
         },
         "messages on standard error: 'text', or 'json' with one object a line")
      ->default_str("text")
      ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}));
  app.add_flag("--json", out.json, "print the addresses as one JSON document");
  set_examples(app, {"yardmaster serve --policy las --listen 127.0.0.1:50051",
                     "yardmaster serve --config docs/examples/serve.yaml --policy las",
                     "yardmaster serve --checkpoint checkpoints/pilot --decision-log decisions",
                     "yardmaster serve --policy las --listen 0.0.0.0:50051 --tls-cert server.pem "
                     "--tls-key server.key --tls-client-ca clients.pem --token-file tokens"});
}

ModelCatalog::ModelOptions named_model(const std::string& text) {
  const size_t at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size()) {
    throw InputError("--model", "NAME=POLICY or NAME=checkpoint:DIR", "'" + text + "'");
  }
  return {.policy = text.substr(at + 1), .name = text.substr(0, at)};
}

bool parse(CLI::App& app, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kCommand);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return parse_arguments(app, static_cast<int>(arguments.size()), argv.data());
}

// Parses the file's options alone, so that their errors name the file and not the command line.
void check_file(const std::string& file, const std::vector<std::string>& of_file) {
  ServeOptions unused;
  CLI::App app("", kCommand);
  add_serve_options(app, unused);
  try {
    parse(app, of_file);
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
}

}  // namespace

bool parse_serve_options(const std::vector<std::string>& arguments, ServeOptions& out) {
  std::vector<std::string> given(arguments.begin() + 1, arguments.end());
  CLI::App app("Serve a policy to a cluster manager.", kCommand);
  add_serve_options(app, out);
  if (const std::string file = last_value_of_option(given, kConfig); !file.empty()) {
    const std::vector<std::string> of_file = arguments_of_file(app, file, kConfig);
    check_file(file, of_file);
    given = merge_file_and_given_arguments(app, of_file, given);
  }
  if (!parse(app, std::move(given))) return false;
  if (!out.checkpoint.empty()) {
    const bool is_spec = out.checkpoint.starts_with("checkpoint:");
    out.server.policy = is_spec ? out.checkpoint : "checkpoint:" + out.checkpoint;
  }
  for (const std::string& model : out.models) {
    out.server.more_models.push_back(named_model(model));
  }
  return true;
}

}  // namespace yard
