/* Drives the environment from C, through the shared library alone, as another language would.
 * Arguments are ready-made clusters, or folders of them: it opens each and plays on it. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/yardmaster_env.h"

static int failures = 0;

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

enum { kWorlds = 4 };

/* Chooses the first legal action from an index that depends on world and step. */
static void choose(const yardmaster_env* env, unsigned step, int32_t* actions) {
  const int32_t count = yardmaster_env_actions(env);
  const uint8_t* mask = yardmaster_env_mask(env);
  for (int32_t n = 0; n < kWorlds; ++n) {
    int32_t a = (int32_t)((step * 2654435761u + (unsigned)n * 40503u) % (unsigned)count);
    while (!mask[n * count + a]) a = (a + 1) % count;
    actions[n] = a;
  }
}

static size_t jobs_bytes(const yardmaster_env* env) {
  return (size_t)(kWorlds * yardmaster_env_rows(env) * yardmaster_env_job_features(env)) *
         sizeof(float);
}

/* Opens the cluster with an agent and the device task, and plays 40 steps. */
static void play_on(const char* cluster) {
  for (int task = 0; task < 2; ++task) {
    char settings[512], error[2048] = "";
    snprintf(settings, sizeof settings,
             "agent=%s\ncluster=%s\nnum_envs=4\nepisode_jobs=20\ngenerate_jobs=200\n",
             task == 0 ? "dispatcher" : "select", cluster);
    yardmaster_env* env = yardmaster_env_open(settings, error, sizeof error);
    if (env == NULL && strstr(error, "YARD_TRACES") != NULL) {
      printf("%s: skipped: %s\n", cluster, error);
      return;
    }
    if (env == NULL) fprintf(stderr, "%s: %s\n", cluster, error);
    EXPECT(env != NULL);
    if (env == NULL) return;
    EXPECT(yardmaster_env_reset(env) == 0);
    int32_t actions[kWorlds];
    for (unsigned t = 0; t < 40; ++t) {
      choose(env, t, actions);
      EXPECT(yardmaster_env_step(env, actions) == 0);
    }
    yardmaster_env_close(env);
  }
}

static int play_on_all(int argc, char** argv) {
  int played = 0;
  for (int i = 1; i < argc; ++i) {
    DIR* folder = opendir(argv[i]);
    if (folder == NULL) {
      play_on(argv[i]);
      ++played;
      continue;
    }
    for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
      char* dot = strrchr(entry->d_name, '.');
      if (dot == NULL || strcmp(dot, ".yaml") != 0) continue;
      *dot = '\0';
      play_on(entry->d_name);
      ++played;
    }
    closedir(folder);
  }
  EXPECT(played > 0);
  if (failures == 0) printf("%d clusters opened\n", played);
  return failures == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc > 1) return play_on_all(argc, argv);
  char error[2048] = "";
  EXPECT(yardmaster_env_abi() == YARDMASTER_ENV_ABI);
  EXPECT(strstr(yardmaster_env_help(), "episode_jobs=") != NULL);
  EXPECT(yardmaster_env_open("cluster=nonsense\n", error, sizeof error) == NULL);
  EXPECT(strstr(error, "nonsense") != NULL);
  EXPECT(yardmaster_env_open("colour=red\n", error, 8) == NULL);
  EXPECT(strlen(error) == 7);
  EXPECT(yardmaster_env_open(NULL, error, sizeof error) == NULL);
  EXPECT(yardmaster_env_open("cluster=8x8\ncluster=4x4\n", error, sizeof error) == NULL);
  EXPECT(strstr(error, "cluster: expected one value") != NULL);

  const char* settings =
      "trace=synthetic:habits,synthetic:xv\ncluster=4x8,8x8\nnum_envs=4\nepisode_jobs=50\n"
      "generate_jobs=300\nseed=7\n";
  yardmaster_env* a = yardmaster_env_open(settings, error, sizeof error);
  yardmaster_env* b = yardmaster_env_open(settings, error, sizeof error);
  if (a == NULL || b == NULL) {
    fprintf(stderr, "not opened: %s\n", error);
    return 1;
  }
  EXPECT(yardmaster_env_worlds(a) == kWorlds);
  EXPECT(strstr(yardmaster_env_spec(a), "\"agent\":\"dispatcher\"") != NULL);
  EXPECT(strstr(yardmaster_env_spec(a), "\"siblings\"") != NULL);
  const int32_t nothing[kWorlds] = {0};
  EXPECT(yardmaster_env_step(a, nothing) == -1);
  EXPECT(strstr(yardmaster_env_error(a), "step: expected a reset") != NULL);
  EXPECT(yardmaster_env_fork(a, 0, 1) == -1);
  EXPECT(strstr(yardmaster_env_error(a), "fork: expected a reset") != NULL);
  EXPECT(yardmaster_env_reset(a) == 0 && yardmaster_env_reset(b) == 0);
  const float* jobs = yardmaster_env_jobs(a);

  int32_t actions[kWorlds];
  int ended = 0;
  double paid = 0;
  for (unsigned t = 0; t < 600; ++t) {
    choose(a, t, actions);
    EXPECT(yardmaster_env_step(a, actions) == 0);
    EXPECT(yardmaster_env_step(b, actions) == 0);
    EXPECT(memcmp(yardmaster_env_jobs(a), yardmaster_env_jobs(b), jobs_bytes(a)) == 0);
    for (int n = 0; n < kWorlds; ++n) {
      ended += yardmaster_env_ending(a)[n] == YARDMASTER_TERMINATED;
      paid += yardmaster_env_reward(a)[n];
      EXPECT(yardmaster_env_dt_s(a)[n] >= 0);
    }
  }
  EXPECT(ended > 0);
  EXPECT(paid < 0);
  EXPECT(jobs == yardmaster_env_jobs(a));

  /* An illegal action returns an error and changes nothing. */
  choose(a, 1, actions);
  actions[2] = yardmaster_env_actions(a);
  EXPECT(yardmaster_env_step(a, actions) == -1);
  EXPECT(strstr(yardmaster_env_error(a), "actions[2]") != NULL);
  EXPECT(memcmp(yardmaster_env_jobs(a), yardmaster_env_jobs(b), jobs_bytes(a)) == 0);

  /* Playing on after a restore gives the same state as playing on after the save. */
  const size_t size = yardmaster_env_save(a, NULL, 0);
  void* saved = malloc(size);
  EXPECT(yardmaster_env_save(a, saved, size) == size);
  for (unsigned t = 0; t < 50; ++t) {
    choose(a, t, actions);
    EXPECT(yardmaster_env_step(a, actions) == 0);
  }
  EXPECT(yardmaster_env_restore(b, saved, size) == 0);
  for (unsigned t = 0; t < 50; ++t) {
    choose(b, t, actions);
    EXPECT(yardmaster_env_step(b, actions) == 0);
  }
  EXPECT(memcmp(yardmaster_env_jobs(a), yardmaster_env_jobs(b), jobs_bytes(a)) == 0);
  EXPECT(yardmaster_env_restore(b, saved, size - 1) == -1);
  free(saved);

  /* A fork has the observation of its origin. */
  EXPECT(yardmaster_env_fork(a, 0, 3) == 0);
  const size_t window = jobs_bytes(a) / kWorlds;
  EXPECT(memcmp(yardmaster_env_jobs(a), (const char*)yardmaster_env_jobs(a) + 3 * window, window) ==
         0);
  EXPECT(yardmaster_env_fork(a, 0, 4) == -1);

  const double weights[] = {0, 1}, bad[] = {0, 0};
  EXPECT(yardmaster_env_set_weights(a, weights, 2) == 0);
  EXPECT(yardmaster_env_set_weights(a, bad, 2) == -1);
  EXPECT(yardmaster_env_set_weights(a, weights, 1) == -1);
  yardmaster_env_close(a);
  yardmaster_env_close(b);

  /* The device task, over workloads that differ in window and congestion. */
  a = yardmaster_env_open(
      "agent=select\ntrace=synthetic:habits\nnum_envs=4\nepisode_jobs=20\ngenerate_jobs=400\n"
      "from=0%,50%\nto=50%,90%\ncongestion=3,6\nfaults.node_mtbf_h=500\n",
      error, sizeof error);
  if (a == NULL) {
    fprintf(stderr, "not opened: %s\n", error);
    return 1;
  }
  EXPECT(yardmaster_env_reset(a) == 0);
  ended = 0;
  for (unsigned t = 0; t < 200; ++t) {
    choose(a, t, actions);
    EXPECT(yardmaster_env_step(a, actions) == 0);
    for (int n = 0; n < kWorlds; ++n) ended += yardmaster_env_ending(a)[n] == YARDMASTER_TERMINATED;
  }
  EXPECT(ended > 0);
  EXPECT(yardmaster_env_set_weights(a, weights, 2) == 0);
  yardmaster_env_close(a);

  /* Every agent opens by its name, with settings of its own. */
  const char* agents[] = {"dispatcher", "pilot",   "sched2", "mlfs",
                          "meta",       "harmony", "select", "dl2"};
  for (size_t i = 0; i < sizeof agents / sizeof *agents; ++i) {
    char text[256];
    const int elastic = strcmp(agents[i], "dl2") == 0; /* needs jobs with sizes to choose */
    snprintf(text, sizeof text,
             "agent=%s\ntrace=synthetic:%s\ncluster=%s\nnum_envs=4\nepisode_jobs=20\n", agents[i],
             elastic ? "servers" : "habits", elastic ? "servers-6" : "4x8");
    a = yardmaster_env_open(text, error, sizeof error);
    EXPECT(a != NULL);
    if (a == NULL) continue;
    EXPECT(strstr(yardmaster_env_spec(a), agents[i]) != NULL);
    EXPECT(yardmaster_env_save(a, NULL, 0) == 0);
    EXPECT(strstr(yardmaster_env_error(a), "save: expected a reset") != NULL);
    EXPECT(yardmaster_env_reset(a) == 0);
    for (unsigned t = 0; t < 40; ++t) {
      choose(a, t, actions);
      EXPECT(yardmaster_env_step(a, actions) == 0);
    }
    yardmaster_env_close(a);
  }
  EXPECT(yardmaster_env_open("agent=pilots\n", error, sizeof error) == NULL);
  EXPECT(strstr(error, "pilot") != NULL);
  EXPECT(yardmaster_env_open("agent.colour=red\n", error, sizeof error) == NULL);
  EXPECT(strstr(error, "colour") != NULL);
  EXPECT(yardmaster_env_open("from=0%,50%\nto=1%,2%,3%\n", error, sizeof error) == NULL);
  EXPECT(strstr(error, "per scenario") != NULL);
  if (failures == 0) printf("all as it should be\n");
  return failures == 0 ? 0 : 1;
}
