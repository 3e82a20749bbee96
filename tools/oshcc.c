/* SPDX-License-Identifier: MIT
 *
 * oshcc and oshc++: a C or C++ compiler with what OpenSHMEM programs need. Which of the two is decided by the name
 * it is called by. Everything is found from where this program lies, so an installation can be moved: headers and
 * libraries in a prefix (bin/ beside include/ and lib/), or in the Python package of the environment whose bin/
 * this is. What has not been said is the compiler's own business: the command line is passed on as it is.
 *
 * CC and CXX are not looked at: they often name this program.
 */
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocshmem/rocshmem_defs.h>

#ifndef OSHCC_LIBDIR
#define OSHCC_LIBDIR "lib"
#endif
#ifndef OSHCC_INCLUDEDIR
#define OSHCC_INCLUDEDIR "include"
#endif

enum { PATH_SIZE = 4096 };

struct place {
    char include[PATH_SIZE], lib[PATH_SIZE];
};

struct words {
    char **items; /* owned; what they point to is not; ends with NULL */
    int n;
};

static const char *name = "oshcc";

static const char help[] =
    "usage: oshcc [options of the compiler] files      oshc++ for C++\n"
    "\n"
    "Compile and link an OpenSHMEM program; start it with oshrun -np N program.\n"
    "\n"
    "  -showme, -show     print the command, do not run it\n"
    "  -showme:command    print the compiler\n"
    "  -showme:compile    print what is added when compiling; -showme:link: when linking\n"
    "  -showme:incdirs    print the folder of the headers; -showme:libdirs: of the libraries\n"
    "  -showme:libs       print the names of the libraries\n"
    "  -compile_info, -link_info    the commands that compile and that link, as MPICH's compilers print "
    "them\n"
    "  --version          print the version, then the compiler's\n"
    "  --help             print this\n"
    "\n"
    "All of them with one dash or two. The compiler is $OSHCC_CC, else cc (oshc++: $OSHCC_CXX, else c++).\n"
    "With -c, -S, -E, -M, -MM, -fsyntax-only or -r nothing is added for the linker.\n";

/* ---- where things are ---- */

static bool has_both(const char *include, const char *lib)
{
    char header[PATH_SIZE + 16], library[PATH_SIZE + 32];
    snprintf(header, sizeof(header), "%s/shmem.h", include);
    snprintf(library, sizeof(library), "%s/libshmem.so", lib);
    return access(header, R_OK) == 0 && access(library, R_OK) == 0;
}

/* A pair of folders below root, which may have wildcards. The first that exists is taken. */
static bool try_below(const char *root, const char *include, const char *lib, struct place *place)
{
    glob_t found;
    bool taken = false;
    if (glob(root, 0, NULL, &found) != 0) return false;
    for (size_t i = 0; i < found.gl_pathc && !taken; i++) {
        char path[2 * PATH_SIZE];
        snprintf(path, sizeof(path), "%s/%s", found.gl_pathv[i], include);
        if (!realpath(path, place->include)) continue;
        snprintf(path, sizeof(path), "%s/%s", found.gl_pathv[i], lib);
        if (!realpath(path, place->lib)) continue;
        taken = has_both(place->include, place->lib);
    }
    globfree(&found);
    return taken;
}

/* The folder that holds this program's folder, with what glob would read as a wildcard escaped. */
static bool find_prefix(char *prefix, size_t nbytes)
{
    char self[PATH_SIZE];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0) return false;
    self[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    size_t length = 0;
    for (const char *c = self; *c; c++) {
        if (length + 3 > nbytes) return false;
        if (strchr("*?[\\", *c)) prefix[length++] = '\\';
        prefix[length++] = *c;
    }
    prefix[length] = '\0';
    return true;
}

static bool find_place(struct place *place)
{
    static const char *const packages[] = {
        "rocshmem4py", "lib/python3*/site-packages/rocshmem4py", "lib64/python3*/site-packages/rocshmem4py",
        "lib/python3*/dist-packages/rocshmem4py", "local/lib/python3*/dist-packages/rocshmem4py"};
    char prefix[PATH_SIZE], root[PATH_SIZE + 64];
    if (!find_prefix(prefix, sizeof(prefix))) return false;
    snprintf(root, sizeof(root), "%s/.", prefix);
    static const char *const layouts[][2] = {{OSHCC_INCLUDEDIR, OSHCC_LIBDIR}, {"include", "lib"}};
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (try_below(root, layouts[i][0], layouts[i][1], place)) return true;
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        snprintf(root, sizeof(root), "%s/%s", prefix, packages[i]);
        if (try_below(root, "include", "lib", place)) return true;
    }
    return false;
}

/* ---- the command line ---- */

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

/* Will this command link? Not when told to stop before, and not without a file, as in `oshcc -v`. */
static bool will_link(int n, char *const *words)
{
    static const char *const stops[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", NULL};
    static const char *const with_value[] = {
        "-o",      "-I",  "-L",  "-D",      "-U",         "-x",        "-include",    "-imacros", "-isystem",
        "-iquote", "-MF", "-MT", "-MQ",     "-idirafter", "-Xlinker",  "-Xassembler", "--param",  "-T",
        "-u",      "-z",  "-e",  "-Xclang", "-isysroot",  "-aux-info", NULL};
    bool file = false;
    for (int i = 1; i < n; i++) {
        if (is_one_of(words[i], stops)) return false;
        if (is_one_of(words[i], with_value))
            i++;
        else if (words[i][0] != '-' || words[i][1] == '\0' || words[i][1] == 'l')
            file = true;
    }
    return file;
}

static void add(struct words *words, const char *word)
{
    words->items[words->n++] = (char *)(uintptr_t)word; /* execvp's prototype; nobody writes there */
}

/* A word as a shell reads it back. */
static void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    }
    putchar('\'');
}

static int print_words(char *const *words)
{
    for (; *words; words++) {
        print_word(*words);
        putchar(words[1] ? ' ' : '\n');
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s%s\n", name, what, why);
    return 1;
}

/* What stands after "showme", or "" for the whole command; NULL: another word. */
static const char *shown(const char *word)
{
    static const char *const compile[] = {"compile_info", "compile-info", NULL};
    static const char *const link[] = {"link_info", "link-info", NULL};
    if (*word != '-') return NULL;
    word += word[1] == '-' ? 2 : 1;
    if (strcmp(word, "show") == 0 || strcmp(word, "showme") == 0) return "";
    if (is_one_of(word, compile)) return "compile_info";
    if (is_one_of(word, link)) return "link_info";
    return strncmp(word, "showme:", 7) == 0 ? word + 7 : NULL;
}

struct parts {
    char include[PATH_SIZE + 4], lib[PATH_SIZE + 4], rpath[PATH_SIZE + 16];
    const char *compiler;
};

static int show_part(const char *part, const struct place *place, struct parts *parts)
{
    char libs[] = "shmem", runtime[] = "rocshmem", shmem[] = "-lshmem", rocshmem[] = "-lrocshmem";
    char math[] = "-lm", math_name[] = "m"; /* programs written where the library needed it forget it */
    char *compile[] = {parts->include, NULL};
    char *link[] = {parts->lib, parts->rpath, shmem, rocshmem, math, NULL};
    char *names[] = {libs, runtime, math_name, NULL};
    char *compile_info[] = {(char *)(uintptr_t)parts->compiler, parts->include, NULL};
    char *link_info[] = {
        (char *)(uintptr_t)parts->compiler, parts->lib, parts->rpath, shmem, rocshmem, math, NULL};
    if (strcmp(part, "compile_info") == 0) return print_words(compile_info);
    if (strcmp(part, "link_info") == 0) return print_words(link_info);
    if (strcmp(part, "compile") == 0) return print_words(compile);
    if (strcmp(part, "link") == 0) return print_words(link);
    if (strcmp(part, "libs") == 0) return print_words(names);
    const char *text = strcmp(part, "command") == 0   ? parts->compiler
                       : strcmp(part, "incdirs") == 0 ? place->include
                       : strcmp(part, "libdirs") == 0 ? place->lib
                       : strcmp(part, "version") == 0 ? ROCSHMEM_VERSION
                                                      : NULL;
    if (!text)
        return fail("-showme: has command, compile, link, incdirs, libdirs, libs and version, not ", part);
    return puts(text) < 0;
}

static int run(struct words *words)
{
    execvp(words->items[0], words->items);
    fprintf(stderr, "%s: cannot start the compiler \"%s\": %s; name another in %s\n", name, words->items[0],
            strerror(errno), strchr(name, '+') ? "OSHCC_CXX" : "OSHCC_CC");
    return 127;
}

static int compile(int argc, char **argv, const struct place *place, struct words *words)
{
    struct parts parts;
    bool show = false;
    const char *chosen = getenv(strchr(name, '+') ? "OSHCC_CXX" : "OSHCC_CC");
    parts.compiler = chosen && *chosen ? chosen : strchr(name, '+') ? "c++" : "cc";
    snprintf(parts.include, sizeof(parts.include), "-I%s", place->include);
    snprintf(parts.lib, sizeof(parts.lib), "-L%s", place->lib);
    snprintf(parts.rpath, sizeof(parts.rpath), "-Wl,-rpath,%s", place->lib);
    add(words, parts.compiler);
    add(words, parts.include);
    for (int i = 1; i < argc; i++) {
        const char *part = shown(argv[i]);
        if (part && *part) return show_part(part, place, &parts);
        if (part)
            show = true;
        else
            add(words, argv[i]);
    }
    if (will_link(words->n - 1, words->items + 1) || (show && words->n == 2)) {
        add(words, parts.lib);
        add(words, parts.rpath);
        add(words, "-lshmem");
        add(words, "-lrocshmem");
        add(words, "-lm");
    }
    words->items[words->n] = NULL;
    return show ? print_words(words->items) : run(words);
}

int main(int argc, char **argv)
{
    static struct place place;
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *called = argc > 0 ? (slash ? slash + 1 : argv[0]) : name;
    if (strstr(called, "++") || strstr(called, "cxx") || strstr(called, "CC")) name = "oshc++";
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-help") == 0))
        return fputs(help, stdout) < 0;
    if (argc == 2 && (strcmp(argv[1], "--version") == 0)) {
        printf("%s %s, OpenSHMEM %d.%d\n", name, ROCSHMEM_VERSION, ROCSHMEM_MAJOR_VERSION,
               ROCSHMEM_MINOR_VERSION);
        fflush(stdout);
    }
    if (!find_place(&place))
        return fail("cannot find shmem.h and libshmem.so from where this program is; install it again", "");
    struct words words = {.n = 0};
    words.items = calloc((size_t)argc + 8, sizeof(char *));
    if (!words.items) return fail("no memory for the command line", "");
    int status = compile(argc, argv, &place, &words);
    free(words.items);
    return status;
}
