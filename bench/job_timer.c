/* SPDX-License-Identifier: MIT
 *
 * job_timer COUNT PROGRAM [ARGS...]: start COUNT copies of a program by fork and exec, wait for all of them,
 * and print the wall time in ns. COUNT 1 times a launcher with its whole job; a larger COUNT is the floor of
 * such a launcher. The copies' standard output is thrown away. Ends with 1 when a copy failed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (long long)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void become(char **argv)
{
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) dup2(null, STDOUT_FILENO);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (count < 1 || count > 1024) {
        fprintf(stderr, "usage: job_timer COUNT PROGRAM [ARGS...], COUNT 1..1024\n");
        return 2;
    }
    int failed = 0, status;
    long long start = now_ns();
    for (long i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid == 0) become(argv + 2);
        if (pid < 0) {
            perror("fork");
            return 1;
        }
    }
    for (long i = 0; i < count; i++)
        if (wait(&status) < 0 || status != 0) failed = 1;
    long long elapsed = now_ns() - start;
    if (failed)
        fprintf(stderr, "job_timer: a copy of %s failed\n", argv[2]);
    else
        printf("%lld\n", elapsed);
    return failed;
}
