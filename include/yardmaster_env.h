/* Batches of environments for other languages: a pure C interface to every agent.
 *
 *   char error[512];
 *   yardmaster_env* env = yardmaster_env_open("agent=sched2\ncluster=8x8\nnum_envs=64\n",
 *                                             error, sizeof error);
 *   yardmaster_env_reset(env);
 *   const float* jobs = yardmaster_env_jobs(env);           // shape (worlds, rows, features)
 *   const uint8_t* mask = yardmaster_env_mask(env);         // shape (worlds, rows + 1); 1: legal
 *   yardmaster_env_step(env, actions);                      // actions: (worlds) int32
 *
 * Build a program with
 *   cc -Iinclude prog.c -Lbuild/lib -lyardmaster_env -Wl,-rpath,$PWD/build/lib
 *
 * The environment owns all tensors. Their addresses do not change; reset() and step() overwrite
 * them. Functions that return int return 0, or -1 on an error. yardmaster_env_error() describes the
 * error until the next call. Returned texts live as long as the environment, and the text of help()
 * as long as the process. Only one thread at a time may use an environment.
 */
#ifndef YARDMASTER_ENV_H
#define YARDMASTER_ENV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define YARDMASTER_ENV_ABI 3 /* increases when this interface changes */

typedef struct yardmaster_env yardmaster_env;

enum { YARDMASTER_NOT_ENDED = 0, YARDMASTER_TERMINATED = 1, YARDMASTER_TRUNCATED = 2 };

int32_t yardmaster_env_abi(void);

/* `settings`: lines of key=value; yardmaster_env_help() lists the keys. Returns null if settings or
 * files are invalid, and writes the reason to `error` (`size` bytes, truncated to fit). */
yardmaster_env* yardmaster_env_open(const char* settings, char* error, size_t size);
void yardmaster_env_close(yardmaster_env* env);
const char* yardmaster_env_help(void);
const char* yardmaster_env_error(const yardmaster_env* env);

/* Describes the agent and its observation as one JSON document:
 *   {"agent", "level", "actions", "episode_jobs",
 *    "sets": [{"name", "rows", "features": [{"name", "meaning"}]}]}
 * `rows` is the largest number of rows of a set. The set "actions" describes jobs(), and the set
 * "state" describes cluster(). */
const char* yardmaster_env_spec(const yardmaster_env* env);

int32_t yardmaster_env_worlds(const yardmaster_env* env);
int32_t yardmaster_env_rows(
    const yardmaster_env* env); /* rows of jobs() per world: the most actions besides the no-op */
int32_t yardmaster_env_job_features(const yardmaster_env* env); /* per row */
int32_t yardmaster_env_cluster_features(const yardmaster_env* env);
int32_t yardmaster_env_actions(const yardmaster_env* env); /* rows + 1; the last one is the no-op */

int yardmaster_env_reset(yardmaster_env* env);
/* Takes one legal action per world. An illegal action is an error and changes no world. step() and
 * fork() are errors before the first reset() or restore(). */
int yardmaster_env_step(yardmaster_env* env, const int32_t* actions);

/* Tensors of the current decision. */
const float* yardmaster_env_jobs(const yardmaster_env* env);    /* (worlds, rows, features) */
const float* yardmaster_env_cluster(const yardmaster_env* env); /* (worlds, features) */
const uint8_t* yardmaster_env_mask(const yardmaster_env* env);  /* (worlds, actions) 1: legal */
/* (worlds) the action that the expert policy would take */
const int32_t* yardmaster_env_expert_action(const yardmaster_env* env);

/* Tensors of the last step. */
const float* yardmaster_env_reward(const yardmaster_env* env); /* (worlds) e.g. minus job-seconds */
const float* yardmaster_env_dt_s(const yardmaster_env* env);   /* (worlds) seconds passed */
const uint8_t* yardmaster_env_ending(const yardmaster_env* env);   /* (worlds) YARDMASTER_... */
const float* yardmaster_env_final_jobs(const yardmaster_env* env); /* last ones, if truncated */
const float* yardmaster_env_final_cluster(const yardmaster_env* env);

/* Sets how often each scenario is played, from the next episodes on. A scenario is a trace with its
 * window and congestion on a cluster. */
int yardmaster_env_set_weights(yardmaster_env* env, const double* scenario_weights, int32_t count);
/* Copies the state of world `from` to world `to`. */
int yardmaster_env_fork(yardmaster_env* env, int32_t from, int32_t to);

/* save() returns the size in bytes of all worlds' state, and writes it to `to` if `size` suffices.
 * It returns 0 on an error, such as a call before the first reset() or restore(). restore()
 * requires the complete state, from an environment with equal settings. */
size_t yardmaster_env_save(yardmaster_env* env, void* to, size_t size);
int yardmaster_env_restore(yardmaster_env* env, const void* from, size_t size);

#ifdef __cplusplus
}
#endif

#endif
