//! From the name of a program to its page, by a table that is made when the guard is compiled.

use super::PAGES;
use super::page::Page;

const SLOTS: usize = 2048;

/// One more than the numbers of family and page; zero where there is none.
static INDEX: [u16; SLOTS] = index();

const fn index() -> [u16; SLOTS] {
    let mut slots = [0; SLOTS];
    let mut family = 0;
    while family < PAGES.len() {
        let mut page = 0;
        while page < PAGES[family].len() {
            let names = PAGES[family][page].names;
            let mut name = 0;
            while name < names.len() {
                let mut slot = slot(names[name].as_bytes());
                while slots[slot] != 0 {
                    slot = (slot + 1) % SLOTS;
                }
                #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 200 of each")]
                {
                    slots[slot] = ((family as u16) << 8 | page as u16) + 1;
                }
                name += 1;
            }
            page += 1;
        }
        family += 1;
    }
    slots
}

/// FNV-1a.
const fn slot(name: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash >> 8) as usize % SLOTS
}

/// The page with exactly this name.
fn exact(name: &str) -> Option<&'static Page> {
    let mut slot = slot(name.as_bytes());
    loop {
        let number = usize::from(INDEX[slot].checked_sub(1)?);
        let page = &PAGES[number >> 8][number & 0xff];
        if page.names.contains(&name) {
            return Some(page);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The page of a program.
pub(crate) fn page(program: &str) -> Option<&'static Page> {
    exact(program).or_else(|| {
        let (beginning, _) = program.split_once('.').filter(|(beginning, _)| !beginning.is_empty())?;
        exact(&format!("{beginning}.*"))
    })
}
