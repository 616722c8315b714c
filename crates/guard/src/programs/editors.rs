//! Programs that change files in place, by commands in a language of their own.

use super::page::Deed::{Executes, Writes};
use super::page::Which::{All, By, Last};
use super::page::{Page, Style, always, page, with};
use super::select;

pub(super) const PAGES: &[Page] = &[
    page(&["ffmpeg", "convert", "magick", "sox", "objcopy"], "Turns a file into another.")
        .style(Style::Words)
        .values("-i")
        .cases(&[always(&[Writes(Last)])])
        .examples(
            &["ffmpeg -i a.mov /etc/x.mp4", "convert a.png /etc/x.png", "objcopy a /usr/bin/x"],
            &["ffmpeg -i /usr/share/a.mov b.mp4", "convert a.png b.jpg"],
        ),
    page(&["sed", "gsed"], "Edits text by a script, in place with `-i`.")
        .values("-e -f -l --expression --file --line-length")
        .cases(&[always(&[Writes(By(select::edited_by_sed)), Writes(By(select::written_by_sed))])])
        .examples(
            &["sed -i s/a/b/ /etc/passwd", "sed -n 'w /etc/x' y", "sed --in-place=.bak -e s/a/b/ /etc/hosts"],
            &["sed -i s/a/b/ notes.txt", "sed -n 1,5p /etc/passwd", "sed s/a/b/ /etc/passwd"],
        ),
    page(&["perl"], "Runs Perl, which may edit files in place.")
        .values("-e -E -I -M -m -F -0 -l")
        .cases(&[always(&[Writes(By(select::edited_in_place))])])
        .examples(
            &["perl -pi -e s/a/b/ /etc/passwd"],
            &["perl -pe s/a/b/ /etc/passwd", "perl -pi -e s/a/b/ x"],
        ),
    page(&["ruby"], "Runs Ruby, which may edit files in place.")
        .values("-e -I -r -C -F")
        .cases(&[always(&[Writes(By(select::edited_in_place)), Executes(By(select::script))])])
        .examples(&["ruby -pi -e '$_.upcase!' /etc/passwd"], &["ruby run.rb"]),
    page(&["awk", "gawk", "mawk", "nawk"], "Edits text by a script.")
        .values("-F -v -f -i -e -l")
        .cases(&[with("-i=inplace", &[Writes(By(select::after_script))])])
        .examples(&["gawk -i inplace '{print}' /etc/passwd"], &["awk '{print $1}' /etc/passwd"]),
    page(
        &[
            "vim", "vi", "nvim", "ex", "ed", "nano", "emacs", "pico", "micro", "code", "vimdiff", "gvim",
            "joe",
        ],
        "Edits files.",
    )
    .values("-c -S -u --cmd")
    .cases(&[always(&[Writes(By(select::edited_by_hand))])])
    .examples(&["vim /etc/passwd", "vim -c 'w! /etc/passwd' x", "ex -s /etc/hosts"], &["nano notes.txt"]),
    page(
        &["yq", "dasel", "clang-format", "autopep8", "crudini", "xmlstarlet"],
        "Edits files of one kind, in place if told so.",
    )
    .values("-o --output --output-format -p --input-format")
    .cases(&[with("-i --in-place --inplace --set -L --ed-inplace", &[Writes(All)])])
    .examples(
        &["yq -i .a=1 /etc/x.yml", "crudini --set /etc/x.ini a b c"],
        &["yq .a /etc/x.yml", "clang-format -i x.c"],
    ),
];
