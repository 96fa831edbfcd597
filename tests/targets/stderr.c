/* A target that prints on stderr in every way that C has. Its first argument says what it does. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static void by_list(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

/* Lines by every function; the two that go to the descriptor itself come last. */
static void ways(void) {
    fprintf(stderr, "fprintf %d %s %.2f\n", 1, "two", 3.0);
    fputs("fputs\n", stderr);
    fputc('c', stderr);
    putc('\n', stderr);
    fwrite("fwrite\n", 1, 7, stderr);
    by_list("vfprintf %s\n", "list");
    fprintf(stderr, "a line");
    fprintf(stderr, " in three");
    fprintf(stderr, " pieces\n");
    errno = ENOENT;
    perror("perror");
    psignal(SIGTERM, "psignal");
    fflush(stderr);
    fprintf(stderr, "%s\n", "");
    char *large = malloc(300000);
    memset(large, 'x', 300000);
    large[299999] = 0;
    fprintf(stderr, "%s\n", large);
    fwrite("nul\0byte\xff\n", 1, 10, stderr);
    fprintf(stderr, "no error: %d\n", ferror(stderr));
}

/* What is printed on a stream that is closed goes nowhere, and does no harm. */
static void late(void) {
    fprintf(stderr, "too late\n");
    fflush(stderr);
}

static void closed(void) {
    atexit(late);
    fprintf(stderr, "last words\n");
    printf("first %d\n", fclose(stderr));
    late();
    errno = 0;
    fclose(stderr);
    printf("then %d\n", errno);
    late();
}

static void state(void) {
    printf("fileno %d isatty %d %d fwide %d orient %d\n", fileno(stderr), isatty(2), isatty(fileno(stderr)),
           fwide(stderr, 0), stderr == stdout);
    errno = 1234;
    fprintf(stderr, "x\n");
    printf("errno %d\n", errno);
    printf("narrow %d\n", fwide(stderr, 0));
    fflush(stdout);
}

static void diverted(const char *how, const char *file) {
    fprintf(stderr, "before\n");
    int saved = dup(2);
    if (!strcmp(how, "freopen")) {
        FILE *same = freopen(file, "w", stderr);
        printf("same %d fileno %d\n", same == stderr, fileno(stderr));
    } else if (!strcmp(how, "dup2")) {
        int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, 2);
        close(fd);
    } else if (!strcmp(how, "dup3")) {
        int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup3(fd, 2, 0);
        close(fd);
    } else if (!strcmp(how, "close")) {
        close(2);
        printf("closed: %d\n", fprintf(stderr, "nowhere\n"));
        clearerr(stderr);
        open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    } else if (!strcmp(how, "fclose")) {
        fclose(stderr);
        printf("fd 2 is open: %d\n", fcntl(2, F_GETFD) >= 0);
        fflush(stdout);
        return;
    }
    fprintf(stderr, "in the file\n");
    fflush(stderr);
    dup2(saved, 2);
    fprintf(stderr, "after\n");
    fflush(stderr);
    fflush(stdout);
}

static void buffered(const char *how) {
    static char room[4096];
    setvbuf(stderr, room, how[0] == 'l' ? _IOLBF : _IOFBF, sizeof room);
    fprintf(stderr, "first\n");
    fprintf(stderr, "second\n");
    if (how[0] == 'k') raise(SIGKILL);
}

static void wide(void) {
    setlocale(LC_ALL, "C.UTF-8");
    printf("fwide %d\n", fwide(stderr, 1));
    printf("fwprintf %d\n", fwprintf(stderr, L"wide \u00e4 %d %s\n", 7, "narrow") > 0);
    fputws(L"fputws\n", stderr);
    fputwc(L'w', stderr);
    putwc(L'\n', stderr);
    fflush(stderr);
    fflush(stdout);
}

static int lines_each;

static void *writer(void *name) {
    for (int n = 0; n < lines_each; n++) {
        fprintf(stderr, "thread %s:", (const char *)name);
        fprintf(stderr, " line");
        fprintf(stderr, " %d\n", n);
    }
    return NULL;
}

static void threads(int number, int lines) {
    pthread_t all[64];
    static char names[64][8];
    lines_each = lines;
    for (int i = 0; i < number; i++) {
        sprintf(names[i], "%d", i);
        pthread_create(&all[i], NULL, writer, names[i]);
    }
    for (int i = 0; i < number; i++) pthread_join(all[i], NULL);
}

/* Children by each way, with a line of each and of their parent in between. */
static void children(char *own) {
    fprintf(stderr, "parent begins");
    if (fork() == 0) {
        fprintf(stderr, "forked child\n");
        _exit(0);
    }
    wait(NULL);
    fprintf(stderr, " and goes on\n");
    if (vfork() == 0) {
        execl("/proc/self/exe", own, "one", "vforked and executed", NULL);
        _exit(1);
    }
    wait(NULL);
    if (fork() == 0) {
        /* What Python's subprocess and every daemon do. */
        for (int fd = 3; fd < 100; fd++) close(fd);
        execl("/proc/self/exe", own, "one", "executed without descriptors", NULL);
        _exit(1);
    }
    wait(NULL);
    fprintf(stderr, "parent ends\n");
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "ways";
    if (!strcmp(what, "ways")) ways();
    else if (!strcmp(what, "state")) state();
    else if (!strcmp(what, "divert")) diverted(argv[2], argv[3]);
    else if (!strcmp(what, "buffered")) buffered(argv[2]);
    else if (!strcmp(what, "wide")) wide();
    else if (!strcmp(what, "closed")) closed();
    else if (!strcmp(what, "threads")) threads(atoi(argv[2]), atoi(argv[3]));
    else if (!strcmp(what, "children")) children(argv[0]);
    else if (!strcmp(what, "count")) for (int i = 0; i < atoi(argv[3]); i++) fprintf(stderr, "%s %d end\n", argv[2], i);
    else if (!strcmp(what, "one")) fprintf(stderr, "%s\n", argv[2]);
    else if (!strcmp(what, "strict")) {
        /* From here on every system call but write and exit is SIGKILL. */
        struct sock_filter only[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof only / sizeof *only, only};
        fprintf(stderr, "before\n");
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
        for (int n = 0; n < 1000; n++) fprintf(stderr, "inside %d\n", n);
        syscall(SYS_exit, 7);
    } else if (!strcmp(what, "assert")) assert(argc < 0);
    else if (!strcmp(what, "segv")) {
        fprintf(stderr, "last words");
        prctl(PR_SET_DUMPABLE, 0);
        *(volatile int *)0 = 1;
    } else if (!strcmp(what, "free")) {
        prctl(PR_SET_DUMPABLE, 0);
        char *volatile memory = malloc(100);
        free(memory);
        free(memory);
    } else if (!strcmp(what, "descriptor")) {
        (void)!write(2, "by write\n", 9);
        dprintf(2, "by dprintf %d\n", 2);
    } else if (!strcmp(what, "load")) {
        void *library = dlopen(argv[2], RTLD_NOW);
        void (*print)(void) = (void (*)(void))dlsym(library, "print");
        print();
    } else if (!strcmp(what, "scribble")) {
        /* Over the memory that is shared with the supervisor, as a wild pointer would. */
        fprintf(stderr, "before\n");
        usleep(100000);
        FILE *maps = fopen("/proc/self/maps", "r");
        char line[512];
        while (fgets(line, sizeof line, maps)) {
            unsigned long from, to;
            if (strstr(line, "hrx-wrap-ring") && sscanf(line, "%lx-%lx", &from, &to) == 2)
                memset((void *)from, 0x5a, atoi(argv[2]));
        }
        for (int n = 0; n < 100; n++) fprintf(stderr, "after %d\n", n);
    }
    return argc == 2 ? 3 : 0;
}
