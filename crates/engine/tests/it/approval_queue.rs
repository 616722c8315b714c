//! Questions that wait in files, and answers that are used once, for nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bashtion::{
    Answer, ApprovalError, ApprovalId, ApprovalLimits, ApprovalState, Approvals, Builder, Engine, Event,
    GuardSettings, Ledger, LedgerError, Limits, Outcome, Policy, Request, SandboxMode, SandboxSettings,
    Status, ToolContext, approve_with,
};
use tempfile::TempDir;

const ASKED: &str = "echo ran >> made; $UNSET true";

struct Queue {
    root: TempDir,
    approvals: Approvals,
}

impl Queue {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        let approvals = Approvals::new(Some(&root.path().join("state")));
        Self { root, approvals }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn folder(&self) -> std::path::PathBuf {
        self.path().join("state/private/approvals")
    }

    fn builder(&self) -> Builder {
        Engine::builder().state_dir(self.path().join("state")).queue_approvals()
    }

    fn context(&self) -> ToolContext {
        ToolContext::from_host(self.path())
    }

    async fn run(&self, request: impl Into<Request>) -> Outcome {
        self.builder().build().run(request.into(), &self.context()).await.unwrap()
    }

    async fn asked(&self) -> ApprovalId {
        let outcome = self.run(ASKED).await;
        assert_eq!(outcome.status, Status::NeedsApproval);
        outcome.approval_id.unwrap()
    }

    fn times_run(&self) -> usize {
        fs::read_to_string(self.path().join("made")).map_or(0, |text| text.lines().count())
    }
}

#[tokio::test]
async fn there_and_back() {
    let queue = Queue::new();
    let id = queue.asked().await;
    assert_eq!(queue.asked().await, id, "the same question is asked once");
    let waiting = queue.approvals.list().unwrap().approvals;
    assert_eq!((waiting.len(), &waiting[0].id, waiting[0].command.as_str()), (1, &id, ASKED));
    assert_eq!(waiting[0].verdict.findings[0].rule, "opaque");
    assert!(matches!(waiting[0].state, ApprovalState::Waiting { .. }));

    let approval = queue.approvals.approve(&id, "tester").unwrap();
    assert!(matches!(&approval.state, ApprovalState::Approved { by, .. } if by == "tester"));
    let outcome = queue.run(ASKED).await;
    assert_eq!((outcome.status, outcome.approval_id.as_ref()), (Status::Exited(0), Some(&id)));
    assert_eq!(outcome.notes, ["approved by tester"]);
    assert_eq!((queue.approvals.get(&id).unwrap().state, queue.times_run()), (ApprovalState::Used, 1));

    let again = queue.asked().await;
    assert_ne!(again, id, "an answer is for once");
    queue.approvals.deny(&again, "tester", "once is enough").unwrap();
    let outcome = queue.run(ASKED).await;
    assert_eq!((outcome.status, outcome.approval_id.as_ref()), (Status::Refused, Some(&again)));
    assert_eq!(outcome.verdict.findings[0].message, "tester has refused it: once is enough");
    assert_ne!(queue.asked().await, again);
    assert_eq!(queue.times_run(), 1);
}

#[tokio::test]
async fn files_are_private() {
    let queue = Queue::new();
    let id = queue.asked().await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&queue.folder()), 0o700);
    assert_eq!(mode(&queue.folder().join(format!("{id}.json"))), 0o600);
}

#[tokio::test]
async fn an_answer_is_for_this_request_and_no_other() {
    let queue = Queue::new();
    fs::create_dir(queue.path().join("sub")).unwrap();
    let id = queue.asked().await;
    queue.approvals.approve(&id, "tester").unwrap();
    let other = |request: Request| (queue.builder(), request, queue.context());
    let limits = Limits { timeout: Duration::from_secs(119), ..Limits::default() };
    let sandbox = || SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() };
    let mut judging = GuardSettings::default();
    judging.block.push("never this".to_owned());
    let cases = vec![
        ("command", other(Request::new(format!("{ASKED} ")))),
        ("directory", other(Request::new(ASKED).cwd("sub"))),
        ("environment", other(Request::new(ASKED).env("A", "1"))),
        ("empty environment", other(Request::new(ASKED).clear_env())),
        ("timeout", other(Request::new(ASKED).timeout(Duration::from_secs(1)))),
        ("session", other(Request::new(ASKED).session("one"))),
        ("sandbox of the request", other(Request::new(ASKED).sandbox(sandbox()))),
        ("caller's environment", (queue.builder(), ASKED.into(), queue.context().env("LANG", "xx"))),
        ("caller's roots", (queue.builder(), ASKED.into(), queue.context().workspace("/srv"))),
        ("limits", (queue.builder().limits(limits), ASKED.into(), queue.context())),
        ("sandbox", (queue.builder().sandbox(sandbox()), ASKED.into(), queue.context())),
        ("policy", (queue.builder().policy(Policy::new(&judging).unwrap()), ASKED.into(), queue.context())),
    ];
    for (what, (builder, request, context)) in cases {
        let outcome = builder.build().run(request, &context).await.unwrap();
        assert_eq!(outcome.status, Status::NeedsApproval, "{what}");
        assert_ne!(outcome.approval_id.unwrap(), id, "{what}");
    }
    assert_eq!(queue.times_run(), 0);
    // What changes nothing does not matter.
    let context = queue.context().operation_id("another");
    let request = Request::new(ASKED).description("in other words");
    let outcome = queue.builder().build().run(request, &context).await.unwrap();
    assert_eq!((outcome.status, queue.times_run()), (Status::Exited(0), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_fifty_gets_it() {
    let queue = Arc::new(Queue::new());
    let id = queue.asked().await;
    queue.approvals.approve(&id, "tester").unwrap();
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let queue = Arc::clone(&queue);
            tokio::spawn(async move { queue.run(ASKED).await })
        })
        .collect();
    let mut ids = vec![];
    let mut ran = 0;
    for task in tasks {
        let outcome = task.await.unwrap();
        match outcome.status {
            Status::Exited(0) => ran += 1,
            status => {
                assert_eq!(status, Status::NeedsApproval);
                ids.push(outcome.approval_id.unwrap());
            }
        }
    }
    ids.dedup();
    assert_eq!((ran, queue.times_run(), ids.len()), (1, 1, 1), "the others share a question");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_answers_counts() {
    let queue = Arc::new(Queue::new());
    let id = queue.asked().await;
    let answers: Vec<_> = (0..16)
        .map(|n| {
            let (queue, id) = (Arc::clone(&queue), id.clone());
            tokio::task::spawn_blocking(move || match n % 2 {
                0 => queue.approvals.approve(&id, "a").is_ok(),
                _ => queue.approvals.deny(&id, "b", "").is_ok(),
            })
        })
        .collect();
    let mut given = 0;
    for answer in answers {
        given += usize::from(answer.await.unwrap());
    }
    // A denial, after one approval at most, which it revokes.
    let denied = queue.approvals.get(&id).unwrap();
    assert!(matches!(denied.state, ApprovalState::Denied { .. }), "{denied:?}");
    assert_eq!(given, 1 + usize::from(denied.revoked.is_some()));
}

#[tokio::test]
async fn too_late() {
    let queue = Queue::new();
    let run = |answer_within, use_within| {
        let limits = ApprovalLimits { answer_within, use_within, ..ApprovalLimits::default() };
        let engine = queue.builder().approval_limits(limits).build();
        let context = queue.context();
        async move { engine.run(ASKED.into(), &context).await.unwrap() }
    };
    let (short, long) = (Duration::from_millis(30), Duration::from_secs(60));
    let first = run(short, long).await.approval_id.unwrap();
    tokio::time::sleep(short * 2).await;
    let error = queue.approvals.approve(&first, "tester").unwrap_err();
    assert!(matches!(error, ApprovalError::Expired { .. }), "{error}");
    assert_eq!(queue.approvals.get(&first).unwrap().state, ApprovalState::Expired);

    let second = run(long, short).await.approval_id.unwrap();
    assert_ne!(second, first);
    queue.approvals.approve(&second, "tester").unwrap();
    tokio::time::sleep(short * 2).await;
    let outcome = run(long, short).await;
    assert_eq!((outcome.status, queue.times_run()), (Status::NeedsApproval, 0));
    assert_ne!(outcome.approval_id.unwrap(), second);
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let queue = Queue::new();
    let id = queue.asked().await;
    let unknown: ApprovalId = "ask-222222".parse().unwrap();
    assert_eq!(
        queue.approvals.approve(&unknown, "x").unwrap_err().to_string(),
        "there is no question ask-222222"
    );
    queue.approvals.deny(&id, "tester", "no").unwrap();
    let error = queue.approvals.approve(&id, "other").unwrap_err().to_string();
    assert_eq!(error, format!("the question {id} was answered already: denied by tester, \"no\""));
    assert_eq!(queue.approvals.find(&id.as_str()[..6]).unwrap(), id);
    assert_eq!(queue.approvals.find(&id.as_str()[4..]).unwrap(), id);
    for given in ["", "ask-", "../lock", "ask-*"] {
        assert!(matches!(queue.approvals.find(given).unwrap_err(), ApprovalError::Unknown { .. }), "{given}");
    }
}

#[tokio::test]
async fn a_beginning_is_enough_if_it_is_one_s_own() {
    let queue = Queue::new();
    // There are fewer letters than questions that may wait, so two begin alike sooner or later.
    let mut ids: Vec<ApprovalId> = vec![];
    let (one, other) = loop {
        let id = queue.run(format!("{ASKED} {}", ids.len()).as_str()).await.approval_id.unwrap();
        if let Some(like) = ids.iter().find(|known| known.as_str()[..5] == id.as_str()[..5]) {
            break (like.clone(), id);
        }
        ids.push(id);
    };
    let (letter, mut both) = (&one.as_str()[4..5], [one.to_string(), other.to_string()]);
    both.sort();
    assert_eq!(queue.approvals.find(one.as_str()).unwrap(), one);
    let error = queue.approvals.find(letter).unwrap_err();
    assert_eq!(error.to_string(), format!("{letter} could be any of {}", both.join(", ")));
    queue.approvals.deny(&one, "tester", "").unwrap();
    assert_eq!(queue.approvals.find(&format!("ask-{letter}")).unwrap(), other, "the only one that waits");
}

#[tokio::test]
async fn a_forged_answer_does_not_count() {
    let queue = Queue::new();
    let id = queue.asked().await;
    let file = queue.folder().join(format!("{id}.json"));
    let waiting = fs::read_to_string(&file).unwrap();
    let given =
        "\"given\":{\"answer\":{\"answer\":\"approved\",\"by\":\"root\"},\"at\":1,\"expires\":9999999999999}";
    let forged = waiting.replace("\"given\":null", given);
    assert_ne!(forged, waiting);
    let unsealed = format!("{}}}", forged.rsplit_once(",\"seal\"").unwrap().0);
    for (text, said) in [(&forged, "its seal does not fit"), (&unsealed, "it has no seal")] {
        fs::write(&file, text).unwrap();
        let outcome = queue.run(ASKED).await;
        assert_eq!((outcome.status, queue.times_run()), (Status::NeedsApproval, 0));
        assert_ne!(outcome.approval_id.as_ref(), Some(&id), "it is asked anew");
        let told = outcome.notes.join("\n");
        assert!(told.contains(&file.display().to_string()) && told.contains(said), "{told}");
        let error = queue.approvals.approve(&id, "tester").unwrap_err();
        assert!(matches!(&error, ApprovalError::Untrusted { path, .. } if *path == file), "{error}");
    }
    // Nor does the answer to another question, under this name.
    let other = queue.run("echo other; $UNSET true").await.approval_id.unwrap();
    queue.approvals.approve(&other, "tester").unwrap();
    let text = fs::read_to_string(queue.folder().join(format!("{other}.json"))).unwrap();
    fs::write(&file, text.replace(other.as_str(), id.as_str())).unwrap();
    assert!(matches!(queue.approvals.get(&id).unwrap_err(), ApprovalError::Untrusted { .. }));
}

#[tokio::test]
async fn a_copy_of_what_was_used_is_not_used_again() {
    let queue = Queue::new();
    let id = queue.asked().await;
    queue.approvals.approve(&id, "tester").unwrap();
    let file = queue.folder().join(format!("{id}.json"));
    let copy = fs::read(&file).unwrap();
    assert_eq!(queue.run(ASKED).await.status, Status::Exited(0));
    fs::write(&file, copy).unwrap();
    assert_eq!((queue.run(ASKED).await.status, queue.times_run()), (Status::NeedsApproval, 1));
}

#[tokio::test]
async fn a_denial_revokes_an_approval_that_was_not_used() {
    let queue = Queue::new();
    let id = queue.asked().await;
    queue.approvals.approve(&id, "first").unwrap();
    let revoked = queue.approvals.deny(&id, "second", "not today").unwrap();
    assert_eq!(revoked.revoked.as_deref(), Some("first"));
    let outcome = queue.run(ASKED).await;
    assert_eq!((outcome.status, queue.times_run()), (Status::Refused, 0));
    assert!(outcome.verdict.findings[0].message.ends_with("not today"), "{:?}", outcome.verdict);

    let id = queue.asked().await;
    queue.approvals.approve(&id, "first").unwrap();
    assert_eq!(queue.run(ASKED).await.status, Status::Exited(0));
    let error = queue.approvals.deny(&id, "second", "").unwrap_err().to_string();
    assert_eq!(error, format!("the answer to {id} was used already: approved by first"));
}

/// A ledger that is required and cannot write some events.
#[derive(Debug)]
struct Unwritable(fn(&Event) -> bool);

impl Ledger for Unwritable {
    fn record(&self, event: &Event) -> Result<(), LedgerError> {
        if self.0(event) { Err(LedgerError { source: "no room".into() }) } else { Ok(()) }
    }

    fn is_required(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn what_cannot_be_written_down_is_neither_asked_nor_answered() {
    let queue = Queue::new();
    let run = |fails| {
        let engine = queue.builder().ledger(Arc::new(Unwritable(fails))).build();
        let context = queue.context();
        async move { engine.run(ASKED.into(), &context).await }
    };
    let error = run(|event| matches!(event, Event::Asked { .. })).await.unwrap_err();
    assert!(matches!(error, bashtion::Error::Ledger(_)), "{error}");
    let id = queue.asked().await;
    let deaf = Approvals::new(Some(&queue.path().join("state"))).ledger(Arc::new(Unwritable(|_| true)));
    assert!(matches!(deaf.approve(&id, "tester").unwrap_err(), ApprovalError::Ledger(_)));
    assert!(matches!(queue.approvals.get(&id).unwrap().state, ApprovalState::Waiting { .. }));
    queue.approvals.approve(&id, "tester").unwrap();
    run(|event| matches!(event, Event::Answered { .. })).await.unwrap_err();
    assert_eq!(queue.times_run(), 0);
}

#[tokio::test]
async fn what_lies_in_the_folder_is_reported_and_never_fatal() {
    let queue = Queue::new();
    let id = queue.asked().await;
    let whole = fs::read_to_string(queue.folder().join(format!("{id}.json"))).unwrap();
    let put = |name: &str, text: &str| fs::write(queue.folder().join(name), text).unwrap();
    put("ask-222222.json", "{\"vers");
    put("ask-333333.json", "{\"version\": 99}");
    put("ask-444444.json", &whole);
    put("ask-555555.new", "half");
    put("ask-....json", "x");
    put("README", "x");
    symlink("/etc/passwd", queue.folder().join("ask-666666.json")).unwrap();
    fs::create_dir(queue.folder().join("ask-777777.json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        queue.folder().join("ask-888888.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let list = queue.approvals.list().unwrap();
    assert_eq!((list.approvals.len(), list.problems.len()), (1, 6), "{:?}", list.problems);
    assert_eq!(queue.asked().await, id);
    queue.approvals.approve(&id, "tester").unwrap();
    assert_eq!(queue.run(ASKED).await.status, Status::Exited(0));
    assert!(queue.run(ASKED).await.approval_id.is_some());
    assert!(!queue.folder().join("ask-555555.new").exists());
}

#[tokio::test]
async fn there_are_only_so_many() {
    let queue = Queue::new();
    let limits = ApprovalLimits { most: 3, ..ApprovalLimits::default() };
    let engine = queue.builder().approval_limits(limits).build();
    let context = queue.context();
    let run = |n: usize| engine.run(Request::new(format!("{ASKED} {n}")), &context);
    for n in 0..3 {
        assert!(run(n).await.unwrap().approval_id.is_some());
    }
    let outcome = run(3).await.unwrap();
    assert_eq!((outcome.status, outcome.approval_id), (Status::NeedsApproval, None));
    assert!(outcome.notes[0].contains("3 questions wait already"), "{:?}", outcome.notes);
    assert!(run(1).await.unwrap().approval_id.is_some(), "it waits already");
    for n in 0..10 {
        let id = run(n % 3).await.unwrap().approval_id.unwrap();
        queue.approvals.deny(&id, "tester", "").unwrap();
        assert_eq!(run(n % 3).await.unwrap().status, Status::Refused);
    }
    assert!(fs::read_dir(queue.folder()).unwrap().count() <= 2 * 3 + 1);
}

#[tokio::test]
async fn a_state_directory_that_cannot_be_used_is_no_reason_to_fail() {
    let queue = Queue::new();
    fs::create_dir_all(queue.path().join("state/private")).unwrap();
    fs::write(queue.folder(), "in the way").unwrap();
    fs::set_permissions(queue.path().join("state"), fs::Permissions::from_mode(0o700)).unwrap();
    let outcome = queue.run(ASKED).await;
    assert_eq!((outcome.status, outcome.approval_id), (Status::NeedsApproval, None));
    assert!(outcome.notes[0].starts_with("the question could not be kept"), "{:?}", outcome.notes);
}

#[tokio::test]
async fn an_approver_comes_after_an_answer_and_settles_what_waits() {
    let queue = Queue::new();
    let id = queue.asked().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let expected = id.clone();
    let approver = approve_with(move |question| {
        count.fetch_add(1, Ordering::Relaxed);
        assert_eq!(question.approval_id.as_ref(), Some(&expected));
        async { Answer::Approved { by: "at hand".to_owned() } }
    });
    let engine = queue.builder().approver(approver).build();
    let outcome = engine.run(ASKED.into(), &queue.context()).await.unwrap();
    assert_eq!((outcome.status, outcome.notes[0].as_str()), (Status::Exited(0), "approved by at hand"));
    assert_eq!(queue.approvals.get(&id).unwrap().state, ApprovalState::Used);
    let next = queue.asked().await;
    queue.approvals.approve(&next, "elsewhere").unwrap();
    let outcome = engine.run(ASKED.into(), &queue.context()).await.unwrap();
    assert_eq!((outcome.notes[0].as_str(), asked.load(Ordering::Relaxed)), ("approved by elsewhere", 1));
}

#[tokio::test]
async fn an_answer_at_hand_is_for_once_even_if_the_question_cannot_be_settled() {
    let queue = Queue::new();
    let id = queue.asked().await;
    let in_the_way = queue.folder().join(format!("{id}.used"));
    fs::create_dir(&in_the_way).unwrap();
    let approver = approve_with(|_| async { Answer::Approved { by: "at hand, once".to_owned() } });
    let engine = queue.builder().approver(approver).build();
    let outcome = engine.run(ASKED.into(), &queue.context()).await.unwrap();
    assert_eq!(outcome.status, Status::Exited(0));
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(queue.run(ASKED).await.status, Status::NeedsApproval);
    assert_eq!(queue.times_run(), 1);
}
