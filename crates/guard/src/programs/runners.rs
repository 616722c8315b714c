//! Programs with an option whose value is a command.

use super::page::{Page, page};

pub(super) const PAGES: &[Page] = &[
    page(&["ansible"], "Does the same on many machines.")
        .code("-a --args")
        .examples(&["ansible all -m shell -a 'rm -rf /'"], &["ansible all -m ping"]),
    page(&["capsh"], "Runs a shell with fewer rights.")
        .code("-c")
        .examples(&["capsh -- -c 'rm -rf /'"], &["capsh --print"]),
    page(&["man"], "Shows manuals.")
        .code("-P --pager")
        .examples(&["man -P 'rm -rf /' ls"], &["man ls", "man -P cat ls"]),
    page(&["rg"], "Searches in files.")
        .code("--pre")
        .examples(&["rg --pre 'rm -rf /' x"], &["rg 'rm -rf /' src"]),
    page(&["nodemon"], "Runs a program anew when files change.")
        .code("--exec -x")
        .examples(&["nodemon --exec 'rm -rf /'"], &["nodemon --exec 'npm test'"]),
    page(&["make", "gmake"], "Builds what has changed.")
        .code("--eval")
        .examples(&["make --eval='$(shell rm -rf /)' x"], &["make test", "make -j4"]),
    page(&["xterm", "konsole", "gnome-terminal", "x-terminal-emulator", "wsl"], "Opens a terminal.")
        .code("-e --command --exec")
        .examples(&["xterm -e 'rm -rf /'", "wsl -e 'rm -rf /'"], &["xterm -e make"]),
];
