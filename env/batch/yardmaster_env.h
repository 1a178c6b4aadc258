/* The batch environment for other languages: a C interface, and no type of C++ in it.
 *
 *   char error[512];
 *   yardmaster_env* env = yardmaster_env_open("trace=synthetic:habits\ncluster=8x8\nworlds=64\n",
 *                                             error, sizeof error);
 *   yardmaster_env_reset(env);
 *   const float* jobs = yardmaster_env_jobs(env);           // (worlds, 128, 8)
 *   const uint8_t* mask = yardmaster_env_mask(env);         // (worlds, 129)
 *   yardmaster_env_step(env, actions);                      // actions: (worlds) int32
 *
 * Build a program with
 *   cc -I. prog.c -Lbuild/lib -lyardmaster_env -Wl,-rpath,$PWD/build/lib
 *
 * Tensors belong to the environment, lie at the same place from open() to close(), and are written
 * anew by reset() and step(). Functions that return int return 0, or -1 where something was wrong,
 * which yardmaster_env_error() then says. One environment may be used by one thread at a time.
 */
#ifndef YARDMASTER_ENV_H
#define YARDMASTER_ENV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define YARDMASTER_ENV_ABI 2 /* rises when what is written here changes */

typedef struct yardmaster_env yardmaster_env;

enum { YARDMASTER_GOES_ON = 0, YARDMASTER_TERMINATED = 1, YARDMASTER_TRUNCATED = 2 };

int32_t yardmaster_env_abi(void);

/* `settings`: lines of key=value; yardmaster_env_help() lists the keys. Returns null and says why
 * in `error` (`size` bytes, cut off there) where they are wrong or a file cannot be used. */
yardmaster_env* yardmaster_env_open(const char* settings, char* error, size_t size);
void yardmaster_env_close(yardmaster_env* env);
const char* yardmaster_env_help(void);
const char* yardmaster_env_error(const yardmaster_env* env);

int32_t yardmaster_env_worlds(const yardmaster_env* env);
int32_t yardmaster_env_rows(const yardmaster_env* env);         /* of the window of jobs */
int32_t yardmaster_env_job_features(const yardmaster_env* env); /* of a row */
int32_t yardmaster_env_cluster_features(const yardmaster_env* env);
int32_t yardmaster_env_actions(const yardmaster_env* env); /* rows, and one for "nothing" */

int yardmaster_env_reset(yardmaster_env* env);
/* One legal action a world; an illegal one changes nothing anywhere. Like fork, refused before the
 * first reset or restore. */
int yardmaster_env_step(yardmaster_env* env, const int32_t* actions);

/* Of the present decision. */
const float* yardmaster_env_jobs(const yardmaster_env* env);    /* (worlds, rows, features) */
const float* yardmaster_env_cluster(const yardmaster_env* env); /* (worlds, features) */
const uint8_t* yardmaster_env_mask(const yardmaster_env* env);  /* (worlds, actions) 1: legal */
const int32_t* yardmaster_env_suggested(
    const yardmaster_env* env); /* (worlds) a heuristic's wish */

/* Of the last step. */
const float* yardmaster_env_reward(const yardmaster_env* env);     /* (worlds) minus job-seconds */
const float* yardmaster_env_dt_s(const yardmaster_env* env);       /* (worlds) seconds passed */
const uint8_t* yardmaster_env_ending(const yardmaster_env* env);   /* (worlds) YARDMASTER_... */
const float* yardmaster_env_final_jobs(const yardmaster_env* env); /* what truncated worlds saw */
const float* yardmaster_env_final_cluster(const yardmaster_env* env);

/* How often each course (a trace, its window and congestion, on a cluster) is played from the next
 * episodes on. */
int yardmaster_env_set_weights(yardmaster_env* env, const double* weights, int32_t count);
/* Lets world `to` go on from where `from` stands. */
int yardmaster_env_fork(yardmaster_env* env, int32_t from, int32_t to);

/* The worlds' places in their courses. save() returns how many bytes it needs, and writes them
 * where `size` suffices; restore() takes them, whole, in an environment of the same settings. */
size_t yardmaster_env_save(const yardmaster_env* env, void* to, size_t size);
int yardmaster_env_restore(yardmaster_env* env, const void* from, size_t size);

#ifdef __cplusplus
}
#endif

#endif
