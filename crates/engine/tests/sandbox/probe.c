// Raw system calls, one for each name. Prints "ok" when the call did what it is for, else the error.
// Static, so that nothing but these calls happens.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static const char *arg;

static int is(const char *name, const char *wanted) { return strcmp(name, wanted) == 0; }

static long number(void) { return strtol(arg, NULL, 0); }

static int opened(int flags) { return open(arg, flags | O_CLOEXEC); }

static struct sockaddr_in loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number())};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static socklen_t unix_address(struct sockaddr_un *address, int is_abstract) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    strncpy(address->sun_path + is_abstract, arg, sizeof address->sun_path - 2);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(arg));
}

static long connect_unix(int fd, int is_abstract) {
    struct sockaddr_un address;
    socklen_t length = unix_address(&address, is_abstract);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, length) < 0) return -1;
    return write(fd, "hello", 5);
}

// Two names for one address, exchanged all the time: a look and a use may see different ones.
static struct sockaddr_un changing;
static volatile int done;

static int exchange(void *unused) {
    (void)unused;
    struct sockaddr_un harmless = {.sun_family = AF_UNIX, .sun_path = "harmless.sock"}, outside;
    unix_address(&outside, 0);
    while (!done) {
        memcpy(&changing, &harmless, sizeof harmless);
        memcpy(&changing, &outside, sizeof outside);
    }
    return 0;
}

static long connect_while_it_changes(void) {
    static char stack[65536] __attribute__((aligned(16)));
    struct sockaddr_un harmless = {.sun_family = AF_UNIX, .sun_path = "harmless.sock"};
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), connected = 0;
    if (server < 0 || bind(server, (void *)&harmless, sizeof harmless) < 0 || listen(server, 100) < 0) return -1;
    int thread = clone(exchange, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    for (int round = 0; round < 3000; round++) {
        int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(client, (void *)&changing, sizeof changing) == 0) connected++;
        close(client);
        close(accept(server, NULL, NULL));
    }
    done = 1;
    waitpid(thread, NULL, 0);
    return connected ? 0 : -1;
}

static int in_child(int (*entry)(void *)) {
    static char stack[65536] __attribute__((aligned(16)));
    int pid = clone(entry, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, NULL);
    int status = 0;
    if (pid < 0) return -1;
    waitpid(pid, &status, 0);
    return 0;
}

static int nothing(void *unused) { (void)unused; return 0; }

#if defined __x86_64__
static long int80(long call, const char *path, long b) {
    long result;
    // The 32-bit entry takes 32-bit pointers: the path is copied low.
    char *low = (char *)syscall(SYS_mmap, 0x10000000, 4096, 3, 0x32, -1, 0);
    strcpy(low, path);
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(call), "b"(low), "c"(b) : "memory", "r8", "r9", "r10", "r11");
    if (result < 0) { errno = (int)-result; return -1; }
    return result;
}
#endif

static long run(const char *name) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    struct timeval old_times[2] = {{1, 0}, {1, 0}};
    struct utimbuf utime_times = {1, 1};
    struct rlimit limit = {100, 100};
    struct sockaddr_in address = {0};
    struct sockaddr_un unix_to;
    int pair[2];
    long flags = 0;
    cpu_set_t cpus;

    // Files.
    if (is(name, "truncate")) return truncate(arg, 0);
    if (is(name, "open_trunc")) return opened(O_RDONLY | O_TRUNC);
    if (is(name, "creat")) return syscall(SYS_openat, AT_FDCWD, arg, O_WRONLY | O_CREAT, 0600);
    if (is(name, "openat2")) {
        struct { uint64_t flags, mode, resolve; } how = {O_WRONLY | O_CREAT, 0600, 0};
        return syscall(SYS_openat2, AT_FDCWD, arg, &how, sizeof how);
    }
    if (is(name, "mknod")) return mknod(arg, S_IFIFO | 0600, 0);
    if (is(name, "chmod")) return syscall(SYS_fchmodat, AT_FDCWD, arg, 0777);
    if (is(name, "fchmod")) return fchmod(opened(O_RDONLY), 0777);
    if (is(name, "fchmod_path")) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", opened(O_PATH));
        return chmod(path, 0777);
    }
    if (is(name, "fchmodat2")) return syscall(452, AT_FDCWD, arg, 0777, 0);
    if (is(name, "chown")) return chown(arg, 65534, 65534);
    if (is(name, "fchown")) return fchown(opened(O_RDONLY), 65534, 65534);
    if (is(name, "fchownat")) return fchownat(opened(O_PATH), "", 65534, 65534, AT_EMPTY_PATH);
    if (is(name, "utimensat")) return utimensat(AT_FDCWD, arg, times, 0);
    if (is(name, "futimens")) return futimens(opened(O_RDONLY), times);
    if (is(name, "utime")) return utime(arg, &utime_times);
    if (is(name, "utimes")) return utimes(arg, old_times);
    if (is(name, "futimesat")) return futimesat(AT_FDCWD, arg, old_times);
    if (is(name, "setxattr")) return setxattr(arg, "user.probe", "x", 1, 0);
    if (is(name, "lsetxattr")) return lsetxattr(arg, "user.probe", "x", 1, 0);
    if (is(name, "fsetxattr")) return fsetxattr(opened(O_RDONLY), "user.probe", "x", 1, 0);
    if (is(name, "setxattrat")) {
        struct { uint64_t value; uint32_t size, flags; } attribute = {(uint64_t)(uintptr_t) "x", 1, 0};
        return syscall(463, AT_FDCWD, arg, 0, "user.probe", &attribute, sizeof attribute);
    }
    if (is(name, "chattr")) {
        int fd = opened(O_RDONLY);
        if (ioctl(fd, 0x80086601, &flags) < 0) return -1;
        flags |= 0x40; // no dump
        return ioctl(fd, 0x40086602, &flags);
    }
    if (is(name, "setversion")) { flags = 4242; return ioctl(opened(O_RDONLY), 0x40087602, &flags); }
    if (is(name, "lease")) return fcntl(opened(O_RDONLY), F_SETLEASE, F_RDLCK);
    if (is(name, "mkzero")) return mknod(arg, S_IFCHR | 0666, 0x105);
    if (is(name, "file_setattr")) {
        struct { uint64_t xflags; uint32_t extsize, nextents, projid, cowextsize; } attributes = {0x40, 0, 0, 0, 0};
        return syscall(469, AT_FDCWD, arg, &attributes, sizeof attributes, 0);
    }
    if (is(name, "open_device") || is(name, "open_read")) return opened(O_RDONLY | O_NONBLOCK);
    if (is(name, "open_write")) return opened(O_WRONLY);
    if (is(name, "write_same")) {
        char text[256];
        ssize_t length = read(opened(O_RDONLY), text, sizeof text);
        return length < 0 ? -1 : write(opened(O_WRONLY), text, (size_t)length);
    }
    if (is(name, "by_handle")) {
        struct { struct file_handle handle; char bytes[128]; } file = {.handle = {.handle_bytes = 128}};
        int mount_id;
        if (name_to_handle_at(AT_FDCWD, arg, &file.handle, &mount_id, 0) < 0) return -1;
        return open_by_handle_at(open("/", O_RDONLY | O_DIRECTORY), &file.handle, O_WRONLY);
    }
#if defined __x86_64__
    if (is(name, "int80_chmod")) return int80(15, arg, 0777);
    if (is(name, "x32_getpid")) return syscall(0x40000000 + SYS_getpid);
    if (is(name, "chmod_old")) return syscall(SYS_chmod, arg, 0777);
#endif

    // The kernel.
    if (is(name, "io_uring")) { char parameters[120] = {0}; return syscall(SYS_io_uring_setup, 4, parameters); }
    if (is(name, "bpf")) {
        uint32_t attributes[18] = {2 /* array */, 4, 4, 1};
        return syscall(SYS_bpf, 0, attributes, sizeof attributes);
    }
    if (is(name, "perf")) {
        uint64_t attributes[16] = {0};
        attributes[0] = 1 | ((uint64_t)64 << 32); // software event
        return syscall(SYS_perf_event_open, attributes, number(), -1, -1, 0);
    }
    if (is(name, "userfaultfd")) return syscall(SYS_userfaultfd, 0);
    if (is(name, "keyctl")) return syscall(SYS_add_key, "user", arg, "x", 1, -4 /* user keyring */);
    if (is(name, "fanotify")) return syscall(SYS_fanotify_init, 0, O_RDONLY);
    if (is(name, "mount")) return mount("none", arg, "tmpfs", 0, "");
    if (is(name, "umount")) return umount2(arg, MNT_DETACH);
    if (is(name, "open_tree")) return syscall(SYS_open_tree, AT_FDCWD, arg, 1 /* clone */);
    if (is(name, "unshare_user")) return unshare(CLONE_NEWUSER);
    if (is(name, "clone_user")) return in_child(nothing);
    if (is(name, "clone3_user")) {
        uint64_t arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
        long pid = syscall(SYS_clone3, arguments, sizeof arguments);
        if (pid == 0) _exit(0);
        return pid;
    }
    if (is(name, "setns")) return setns(opened(O_RDONLY), 0);
    if (is(name, "chroot")) return chroot(arg);
    if (is(name, "sethostname")) {
        char host[65];
        gethostname(host, sizeof host);
        return sethostname(host, strlen(host));
    }
    if (is(name, "settime")) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return clock_settime(CLOCK_REALTIME, &now);
    }
    if (is(name, "syslog")) return syscall(SYS_syslog, 9, NULL, 0);

    // Other processes.
    if (is(name, "kill")) return kill((pid_t)number(), SIGTERM);
    if (is(name, "pidfd_kill")) {
        int fd = (int)syscall(SYS_pidfd_open, number(), 0);
        return syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0);
    }
    if (is(name, "tgkill")) return syscall(SYS_tgkill, number(), number(), SIGTERM);
    if (is(name, "sigqueue")) { union sigval value = {0}; return sigqueue((pid_t)number(), SIGTERM, value); }
    if (is(name, "fcntl_owner")) {
        // The kernel sends the signal in our name when the pipe becomes readable.
        if (pipe(pair) < 0 || fcntl(pair[0], F_SETOWN, (int)number()) < 0 || fcntl(pair[0], F_SETSIG, SIGTERM) < 0) return -1;
        fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        write(pair[1], "x", 1);
        usleep(100000);
        return kill((pid_t)number(), 0) == 0 ? -1 : 0;
    }
    if (is(name, "ptrace")) {
        if (ptrace(PTRACE_SEIZE, (pid_t)number(), 0, 0) < 0) return -1;
        return 0;
    }
    if (is(name, "vm_read")) {
        char bytes[8];
        struct iovec here = {bytes, 8}, there = {(void *)0x400000, 8};
        char path[64], line[256];
        snprintf(path, sizeof path, "/proc/%ld/maps", number());
        FILE *maps = fopen(path, "r");
        if (!maps || !fgets(line, sizeof line, maps)) return -1;
        there.iov_base = (void *)strtoul(line, NULL, 16);
        return process_vm_readv((pid_t)number(), &here, 1, &there, 1, 0);
    }
    if (is(name, "pidfd_getfd")) {
        int fd = (int)syscall(SYS_pidfd_open, number(), 0);
        return syscall(SYS_pidfd_getfd, fd, 0, 0);
    }
    if (is(name, "setpriority")) return setpriority(PRIO_PROCESS, (id_t)number(), 19);
    if (is(name, "setpriority_user")) return setpriority(PRIO_USER, 65533, 19);
    if (is(name, "affinity")) { CPU_ZERO(&cpus); CPU_SET(0, &cpus); return sched_setaffinity((pid_t)number(), sizeof cpus, &cpus); }
    if (is(name, "scheduler")) { struct sched_param none = {0}; return sched_setscheduler((pid_t)number(), SCHED_IDLE, &none); }
    if (is(name, "prlimit")) return prlimit((pid_t)number(), RLIMIT_NOFILE, &limit, NULL);
    if (is(name, "ioprio")) return syscall(SYS_ioprio_set, 1, number(), 3 << 13);
    if (is(name, "kcmp")) return syscall(SYS_kcmp, number(), number(), 0, 0, 0);
    if (is(name, "shm")) return shmat((int)number(), NULL, 0) == (void *)-1 ? -1 : 0;
    if (is(name, "mq")) return syscall(SYS_mq_open, arg, O_RDWR, 0, NULL);

    // Sockets.
    if (is(name, "tcp")) { address = loopback(); return connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, sizeof address); }
    if (is(name, "tcp_fastopen")) { address = loopback(); return sendto(socket(AF_INET, SOCK_STREAM, 0), "hello", 5, MSG_FASTOPEN, (void *)&address, sizeof address); }
    if (is(name, "mptcp")) { address = loopback(); return connect(socket(AF_INET, SOCK_STREAM, 262), (void *)&address, sizeof address); }
    if (is(name, "udp")) { address = loopback(); return sendto(socket(AF_INET, SOCK_DGRAM, 0), "hello", 5, 0, (void *)&address, sizeof address); }
    if (is(name, "unix_path")) return connect_unix(socket(AF_UNIX, SOCK_STREAM, 0), 0);
    if (is(name, "unix_changing")) return connect_while_it_changes();
    if (is(name, "unix_abstract")) return connect_unix(socket(AF_UNIX, SOCK_STREAM, 0), 1);
    if (is(name, "unix_pair")) {
        // A pair of datagram sockets can be pointed at somebody else.
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0) return -1;
        socklen_t length = unix_address(&unix_to, 0);
        return sendto(pair[0], "hello", 5, 0, (void *)&unix_to, length);
    }
    if (is(name, "raw")) return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (is(name, "packet")) return socket(AF_PACKET, SOCK_RAW, 0);
    if (is(name, "uevent")) return socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
    if (is(name, "vsock")) return socket(AF_VSOCK, SOCK_STREAM, 0);
    if (is(name, "alg")) return socket(AF_ALG, SOCK_SEQPACKET, 0);
    if (is(name, "pair")) return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    fprintf(stderr, "no probe %s\n", name);
    exit(2);
}

int main(int count, char **arguments) {
    arg = count > 2 ? arguments[2] : "";
    long result = run(arguments[1]);
    if (result < 0) { printf("refused: %s\n", strerror(errno)); return 1; }
    printf("ok\n");
    return 0;
}
