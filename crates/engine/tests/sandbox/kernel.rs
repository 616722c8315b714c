//! The kernel's own affairs are nobody's in a sandbox.

use crate::scene::accepted;

escapes! {
    t08_requests_past_the_filter: "{probe} io_uring", accepted, [Workspace, Plain, ReadOnly];
    t08_programs_in_the_kernel: "{probe} bpf", accepted, [Workspace, Plain, ReadOnly];
    t08_fault_handlers: "{probe} userfaultfd", accepted, [Workspace, Plain, ReadOnly];
    t08_keys_of_the_session: "{probe} keyctl scene", accepted, [Workspace, Plain, ReadOnly];
    t08_watching_file_systems: "{probe} fanotify", accepted, [Workspace, Plain, ReadOnly];
    t08_the_kernel_log: "{probe} syslog", accepted, [Workspace, Plain, ReadOnly];
    t08_the_host_name: "{probe} sethostname", accepted, [Workspace, Plain, ReadOnly];
    t08_the_clock: "{probe} settime", accepted, [Workspace, Plain, ReadOnly];
    t09_mounting: "mkdir -p $TMPDIR/m && {probe} mount $TMPDIR/m && umount $TMPDIR/m && echo ok", accepted, [Workspace, Plain, ReadOnly];
    t09_copying_a_mount: "{probe} open_tree /", accepted, [Workspace, Plain, ReadOnly];
    t09_another_root: "{probe} chroot {work}", accepted, [Workspace, Plain, ReadOnly];
    t09_a_user_namespace: "{probe} unshare_user", accepted, [Workspace, Plain, ReadOnly];
    t09_a_user_namespace_by_clone: "{probe} clone_user", accepted, [Workspace, Plain, ReadOnly];
    t09_a_user_namespace_by_clone3: "{probe} clone3_user", accepted, [Workspace, Plain, ReadOnly];
    t09_the_namespaces_of_another_process: "{probe} setns /proc/{victim}/ns/uts", accepted, [Workspace, Plain, ReadOnly];
}
