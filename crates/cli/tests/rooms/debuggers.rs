//! Programs that look into others, and into themselves.

use crate::place::Place;

const LOOP: &str = "#include <unistd.h>
volatile int answer = 42;
int main(void) { for (;;) usleep(10000); }
";

/// A program that runs until it is told not to.
fn looping() -> [Place; 2] {
    Place::both().map(|place| {
        place.write("loop.c", LOOP);
        place.prints("gcc -g loop.c -o loop");
        place
    })
}

#[test]
fn gdb_stops_a_program_and_looks_into_it() {
    for place in looping() {
        let out = place.prints("gdb -q -batch -ex 'break main' -ex run -ex 'print answer' ./loop 2>&1");
        assert!(out.contains("Breakpoint 1, ") && out.contains("$1 = 42"), "{out}");
    }
}

#[test]
fn gdb_looks_into_another_commands_program() {
    for place in looping() {
        let task = place.start("exec ./loop");
        place.prints_soon("pgrep -x loop");
        let out =
            place.prints("gdb -q -batch -p $(pgrep -x loop) -ex 'print answer = 43' -ex 'print answer' 2>&1");
        assert!(out.contains("$2 = 43"), "{out}");
        let status = place.bashtion().args(&["status", &task, "--json"]).finish().json();
        assert_eq!(status["status"], "running", "it goes on");
    }
}

#[test]
fn strace_shows_what_a_program_asks_for() {
    for place in Place::both() {
        let out = place.prints("strace -f -e trace=execve bash -c '/bin/true; /bin/echo hi' 2>&1");
        assert!(out.contains("execve(\"/bin/echo\", [\"/bin/echo\", \"hi\"]"), "{out}");
    }
}

#[test]
fn strace_shows_what_another_commands_program_asks_for() {
    for place in looping() {
        place.start("exec ./loop");
        place.prints_soon("pgrep -x loop");
        let out = place.prints("timeout -s INT 0.5 strace -p $(pgrep -x loop) 2>&1; true");
        assert!(out.contains("clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=10000000}"), "{out}");
    }
}

#[test]
fn the_leak_sanitizer_finds_leaks_and_nothing_else() {
    for place in Place::both() {
        place.write("leak.c", "#include <stdlib.h>\nint main(int n, char **v) { char *volatile p = malloc(7); p = 0; return 0; }");
        let out = place.run("gcc -fsanitize=address leak.c -o leak && ./leak");
        assert_eq!(out.code(), Some(1));
        assert!(out.stderr().contains("7 byte(s) leaked in 1 allocation(s)"), "{}", out.stderr());
        place.write("none.c", "#include <stdlib.h>\nint main(void) { free(malloc(7)); return 0; }");
        assert_eq!(place.prints("gcc -fsanitize=address none.c -o none && ./none 2>&1"), "");
    }
}

#[test]
fn threads_are_bound_to_processors() {
    for place in Place::both() {
        place.write(
            "threads.c",
            "#include <omp.h>\n#include <stdio.h>\nint main(void) { int n = 0;\n#pragma omp parallel reduction(+:n)\n\
             n += 1;\nprintf(\"%d %d\\n\", n == omp_get_max_threads(), omp_get_proc_bind()); }",
        );
        let out = place.prints("gcc -fopenmp threads.c -o threads && OMP_PROC_BIND=true ./threads 2>&1");
        assert_eq!(out, "1 1\n");
    }
}

#[test]
fn a_process_chooses_its_processors() {
    for place in Place::both() {
        let choose = "import os
one = {min(os.sched_getaffinity(0))}
os.sched_setaffinity(os.getpid(), one)
print(os.sched_getaffinity(0) == one)";
        assert_eq!(place.prints(&format!("python3 -c '{choose}'")), "True\n");
    }
}

#[test]
fn processes_are_given_less_of_the_processor() {
    for place in Place::both() {
        assert_eq!(place.prints("renice -n 5 $$ > /dev/null; nice"), "5\n", "oneself");
        place.start("exec sleep 4331.4");
        place.prints_soon("pgrep -x sleep");
        assert_eq!(place.prints("renice -n 7 $(pgrep -x sleep) > /dev/null; ps -C sleep -o ni=").trim(), "7");
    }
}
