//! From a table of rules to a filter program.
//!
//! A tree, because the kernel tries every call on it when it is installed, and a list of eighty comparisons costs
//! a tenth of starting a shell.

use libc::sock_filter;

/// What happens to one system call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) call: libc::c_long,
    pub(super) when: When,
    pub(super) answer: Answer,
}

/// What becomes of a call that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The caller is told this.
    Errno(i32),
    /// The host is asked, see `sockets`.
    Ask,
}

/// Which uses of the call are refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    Always,
    /// Those where any of these holds.
    Any(&'static [Test]),
    /// Those where not all tests of any of these lists hold.
    Unless(&'static [&'static [Test]]),
    /// Those where any of the first holds, and those where none of the others does.
    AnyOrUnless(&'static [Test], &'static [&'static [Test]]),
}

/// A look at the lower half of one argument, which is all that the kernel takes of an `int`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// `argument & mask == value`
    Equal { argument: u32, mask: u32, value: u32 },
    /// `argument & mask != 0`
    Has { argument: u32, mask: u32 },
    /// `argument != 0`
    NotZero { argument: u32 },
    /// `argument != value`
    NotEqual { argument: u32, value: u32 },
    /// Both halves are zero: a pointer to nothing.
    Null { argument: u32 },
}

pub(super) const ALLOW: sock_filter = ret(libc::SECCOMP_RET_ALLOW);
const KILL: sock_filter = ret(libc::SECCOMP_RET_KILL_PROCESS);

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;

/// Calls of the x32 ABI, which no program needs and which no table names.
const X32_BIT: u32 = 0x4000_0000;

/// The last call that the tables were written for: newer ones may do anything, and programs cope without them.
const LAST_KNOWN: u32 = 469;

/// The program. Each call may have one rule.
pub(super) fn compile(mut rules: Vec<Rule>) -> Vec<sock_filter> {
    rules.sort_by_key(|rule| rule.call);
    debug_assert!(rules.windows(2).all(|pair| pair[0].call != pair[1].call), "one rule for each call");
    let mut program = vec![
        load(ARCHITECTURE),
        jump(libc::BPF_JEQ, NATIVE, 1, 0),
        KILL,
        load(NUMBER),
        jump(libc::BPF_JGT, LAST_KNOWN, 0, 3),
        jump(libc::BPF_JGE, X32_BIT, 0, 1),
        KILL,
        refuse(libc::ENOSYS),
    ];
    program.extend(tree(&ranges(&rules)));
    program
}

/// The program for whoever has one of [`compile`] already, which sees to other architectures and to the future. As short as
/// it can be: the kernel tries all calls on it whenever it is installed.
pub(super) fn compile_addition(mut rules: Vec<Rule>) -> Vec<sock_filter> {
    rules.sort_by_key(|rule| rule.call);
    [vec![load(NUMBER)], tree(&ranges(&rules))].concat()
}

/// Calls with numbers in a row that get the same answer.
struct Range {
    first: u32,
    last: u32,
    rule: Rule,
}

fn ranges(rules: &[Rule]) -> Vec<Range> {
    let mut ranges: Vec<Range> = vec![];
    for rule in rules {
        let plain = |rule: &Rule| matches!(rule.when, When::Always);
        match ranges.last_mut() {
            Some(range)
                if range.last + 1 == number(rule)
                    && plain(&range.rule)
                    && plain(rule)
                    && range.rule.answer == rule.answer =>
            {
                range.last += 1;
            }
            _ => ranges.push(Range { first: number(rule), last: number(rule), rule: *rule }),
        }
    }
    ranges
}

/// Few enough that a list is as fast as a tree, and shorter.
const SHORT_LIST: usize = 4;

fn tree(ranges: &[Range]) -> Vec<sock_filter> {
    if ranges.len() <= SHORT_LIST {
        return list(ranges);
    }
    let (left, right) = ranges.split_at(ranges.len() / 2);
    let (low, high) = (tree(left), tree(right));
    let over_low = u32::try_from(low.len()).expect("a filter has some hundred steps");
    let mut code = vec![jump(libc::BPF_JGE, right[0].first, 0, 1), go(over_low)];
    code.extend(low);
    code.extend(high);
    code
}

/// First the comparisons, then "allowed", then what the comparisons lead to; the same answer only once.
fn list(ranges: &[Range]) -> Vec<sock_filter> {
    let steps: usize = ranges.iter().map(|range| if range.first == range.last { 1 } else { 2 }).sum();
    let mut bodies: Vec<sock_filter> = vec![];
    let mut answers: Vec<(Answer, usize)> = vec![];
    let mut code = vec![];
    for Range { first, last, rule } in ranges {
        let known =
            answers.iter().find(|(answer, _)| matches!(rule.when, When::Always) && *answer == rule.answer);
        let at = known.map_or(bodies.len(), |(_, at)| *at);
        if known.is_none() {
            bodies.extend(body(rule));
            if matches!(rule.when, When::Always) {
                answers.push((rule.answer, at));
            }
        }
        if first != last {
            code.push(jump(libc::BPF_JGE, *first, 0, 1));
        }
        let distance = u8::try_from(steps - code.len() + at).expect("a list is short");
        code.push(if first == last {
            jump(libc::BPF_JEQ, *first, distance, 0)
        } else {
            jump(libc::BPF_JGT, *last, 0, distance)
        });
    }
    code.push(ALLOW);
    code.extend(bodies);
    code
}

/// Ends with an answer on every path.
fn body(rule: &Rule) -> Vec<sock_filter> {
    let refused = match rule.answer {
        Answer::Errno(errno) => refuse(errno),
        Answer::Ask => ret(libc::SECCOMP_RET_USER_NOTIF),
    };
    match rule.when {
        When::Always => vec![refused],
        When::Any(tests) => [any(tests, refused), vec![ALLOW]].concat(),
        When::Unless(lists) => unless(lists, refused),
        When::AnyOrUnless(tests, lists) => [any(tests, refused), unless(lists, refused)].concat(),
    }
}

fn any(tests: &[Test], refused: sock_filter) -> Vec<sock_filter> {
    // Fits: the answer is next. Otherwise it is skipped.
    tests.iter().flat_map(|test| [look(*test, 1), vec![refused]].concat()).collect()
}

fn unless(lists: &[&[Test]], refused: sock_filter) -> Vec<sock_filter> {
    let mut code = vec![];
    for tests in lists {
        let mut list = vec![ALLOW];
        for test in tests.iter().rev() {
            let mut longer = look(*test, length(&list));
            longer.extend(list);
            list = longer;
        }
        code.extend(list);
    }
    code.push(refused);
    code
}

/// Goes on with the next step if the test holds, else skips that many.
fn look(test: Test, otherwise: u8) -> Vec<sock_filter> {
    match test {
        Test::Equal { argument, mask: u32::MAX, value } => {
            vec![load(low_half(argument)), jump(libc::BPF_JEQ, value, 0, otherwise)]
        }
        Test::Equal { argument, mask, value } => {
            vec![load(low_half(argument)), and(mask), jump(libc::BPF_JEQ, value, 0, otherwise)]
        }
        Test::Has { argument, mask } => {
            vec![load(low_half(argument)), jump(libc::BPF_JSET, mask, 0, otherwise)]
        }
        Test::NotEqual { argument, value } => {
            vec![load(low_half(argument)), jump(libc::BPF_JEQ, value, otherwise, 0)]
        }
        Test::Null { argument } => {
            let high = load(low_half(argument) + HALF);
            let rest = [high, jump(libc::BPF_JEQ, 0, 0, otherwise)];
            // Skips the look at the other half too.
            let low = [load(low_half(argument)), jump(libc::BPF_JEQ, 0, 0, otherwise + 2)];
            [low, rest].concat()
        }
        Test::NotZero { argument } => {
            vec![load(low_half(argument)), jump(libc::BPF_JSET, u32::MAX, 0, otherwise)]
        }
    }
}

const HALF: u32 = 4;

/// Where an argument's lower half is: both architectures are little-endian.
fn low_half(argument: u32) -> u32 {
    ARGUMENTS + 8 * argument
}

fn number(rule: &Rule) -> u32 {
    u32::try_from(rule.call).expect("the kernel's numbers are small")
}

fn length(code: &[sock_filter]) -> u8 {
    u8::try_from(code.len()).expect("one call's rule is short")
}

const fn load(offset: u32) -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

const fn and(mask: u32) -> sock_filter {
    step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask, 0, 0)
}

const fn jump(kind: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    step(libc::BPF_JMP | kind | libc::BPF_K, value, if_true, if_false)
}

const fn go(steps: u32) -> sock_filter {
    step(libc::BPF_JMP | libc::BPF_JA, steps, 0, 0)
}

const fn ret(action: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, action, 0, 0)
}

const fn refuse(errno: i32) -> sock_filter {
    ret(libc::SECCOMP_RET_ERRNO | errno.cast_unsigned())
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel's codes have 16 bits")]
const fn step(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
pub(super) mod simulation {
    use super::*;

    /// What the kernel would answer to a call of this architecture.
    pub(in super::super) fn answer(program: &[sock_filter], call: u32, arguments: [u32; 6]) -> u32 {
        answer_as(program, NATIVE, call, arguments)
    }

    pub(super) fn answer_as(
        program: &[sock_filter],
        architecture: u32,
        call: u32,
        arguments: [u32; 6],
    ) -> u32 {
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let step = program[at];
            at += 1;
            match u32::from(step.code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    value = match step.k {
                        NUMBER => call,
                        ARCHITECTURE => architecture,
                        // What is tried is small.
                        offset if (offset - ARGUMENTS) % 8 == HALF => 0,
                        offset => arguments[((offset - ARGUMENTS) / 8) as usize],
                    };
                }
                code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => value &= step.k,
                code if code == libc::BPF_RET | libc::BPF_K => return step.k,
                code if code == libc::BPF_JMP | libc::BPF_JA => at += step.k as usize,
                code => {
                    let holds = match code & 0xf0 {
                        libc::BPF_JEQ => value == step.k,
                        libc::BPF_JGT => value > step.k,
                        libc::BPF_JGE => value >= step.k,
                        libc::BPF_JSET => value & step.k != 0,
                        other => panic!("an unknown step {other}"),
                    };
                    at += usize::from(if holds { step.jt } else { step.jf });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::simulation::{answer, answer_as};
    use super::*;

    const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();

    fn refused(call: libc::c_long, when: When) -> Rule {
        Rule { call, when, answer: Answer::Errno(libc::EPERM) }
    }

    #[test]
    fn each_call_gets_its_own_answer_however_many_there_are() {
        for count in [0, 1, 2, 7, 8, 9, 40, 150] {
            let every_third = (0..count).map(|n| refused(n * 3, When::Always));
            let program = compile(
                every_third.chain([refused(460, When::Always), refused(461, When::Always)]).collect(),
            );
            assert!(program.len() < 4096, "the kernel takes no more");
            for call in 0..=u32::try_from(count * 3).unwrap() + 5 {
                let named = call % 3 == 0 && i64::from(call) < count * 3;
                let expected = if named { EPERM } else { libc::SECCOMP_RET_ALLOW };
                assert_eq!(answer(&program, call, [0; 6]), expected, "{call} of {count}");
            }
            assert_eq!(
                [459, 460, 461, 462].map(|call| answer(&program, call, [0; 6]) == EPERM),
                [false, true, true, false]
            );
        }
    }

    #[test]
    fn other_architectures_x32_and_the_future() {
        let program = compile(vec![]);
        assert_eq!(answer_as(&program, 0x4000_0003, 1, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        assert_eq!(answer(&program, X32_BIT + 1, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        assert_eq!(answer(&program, u32::MAX, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
        assert_eq!(answer(&program, LAST_KNOWN + 1, [0; 6]), missing);
        assert_eq!(answer(&program, LAST_KNOWN, [0; 6]), libc::SECCOMP_RET_ALLOW);
    }

    #[test]
    fn arguments_are_looked_at() {
        const ONE: Test = Test::Equal { argument: 0, mask: u32::MAX, value: 1 };
        const LOW: Test = Test::Equal { argument: 1, mask: 0xf, value: 2 };
        const BIT: Test = Test::Has { argument: 2, mask: 0x10 };
        let program = compile(vec![
            refused(1, When::Any(&[ONE, BIT])),
            refused(2, When::Unless(&[&[ONE, LOW], &[BIT]])),
            refused(3, When::AnyOrUnless(&[BIT], &[&[ONE]])),
        ]);
        let allowed = |call, arguments| answer(&program, call, arguments) == libc::SECCOMP_RET_ALLOW;
        assert!(
            !allowed(1, [1, 0, 0, 0, 0, 0])
                && !allowed(1, [0, 0, 0x30, 0, 0, 0])
                && allowed(1, [2, 0, 0x20, 0, 0, 0])
        );
        assert!(
            allowed(2, [1, 0x82, 0, 0, 0, 0])
                && !allowed(2, [1, 3, 0, 0, 0, 0])
                && allowed(2, [0, 0, 0x10, 0, 0, 0])
        );
        assert!(allowed(3, [1, 0, 0, 0, 0, 0]) && !allowed(3, [1, 0, 0x10, 0, 0, 0]) && !allowed(3, [0; 6]));
    }

    #[test]
    fn pointers_to_nothing_and_other_values() {
        let tests: &'static [&'static [Test]] =
            &[&[Test::NotEqual { argument: 1, value: 10 }], &[Test::Null { argument: 2 }]];
        let program = compile(vec![refused(1, When::Unless(tests))]);
        let allowed = |arguments| answer(&program, 1, arguments) == libc::SECCOMP_RET_ALLOW;
        assert!(allowed([0, 7, 9, 0, 0, 0]) && allowed([0, 10, 0, 0, 0, 0]));
        assert!(!allowed([0, 10, 9, 0, 0, 0]));
        // A pointer whose lower half is zero is one nevertheless.
        let looks_at_both = program.iter().any(|step| step.k == ARGUMENTS + 8 * 2 + HALF);
        assert!(looks_at_both);
    }

    /// The same rules through another compiler.
    #[test]
    fn agrees_with_seccompiler() {
        use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
        let calls: Vec<libc::c_long> = (0..120).map(|n| n * 7 % 430).collect();
        let ours = compile(calls.iter().map(|call| refused(*call, When::Always)).collect());
        let rules = calls.iter().map(|call| (*call, vec![])).collect();
        let architecture = std::env::consts::ARCH.try_into().unwrap();
        let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let theirs: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)
            .unwrap()
            .try_into()
            .unwrap();
        let theirs: Vec<sock_filter> = theirs
            .iter()
            .map(|step| sock_filter { code: step.code, jt: step.jt, jf: step.jf, k: step.k })
            .collect();
        for call in 0..=LAST_KNOWN {
            assert_eq!(answer(&ours, call, [0; 6]), answer(&theirs, call, [0; 6]), "{call}");
        }
    }
}
