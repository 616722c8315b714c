//! Somebody is asked, and nothing runs unless they agree.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bashtion::{
    Answer, Approver, CancellationToken, Decision, Engine, Event, Events, Policy, Question, Request, Status,
    ToolContext, approve_with,
};
use tempfile::TempDir;
use tokio::sync::Notify;

/// Asked about because nobody knows what it would run.
const ASKED: &str = "touch made; $UNSET true";

fn engine(root: &Path, approver: Arc<dyn Approver>) -> Engine {
    Engine::builder().state_dir(root.join("state")).approver(approver).build()
}

fn approved() -> Answer {
    Answer::Approved { by: "tester".to_owned() }
}

#[tokio::test]
async fn an_approver_is_told_everything_and_asked_once() {
    let root = TempDir::new().unwrap();
    let questions = Arc::new(Mutex::new(Vec::<Question>::new()));
    let seen = Arc::clone(&questions);
    let approver = approve_with(move |question| {
        seen.lock().unwrap().push(question);
        async { approved() }
    });
    let context = ToolContext::from_host(root.path()).operation_id("call-1");
    let request = Request::new(ASKED).description("to see");
    let outcome = engine(root.path(), approver).run(request, &context).await.unwrap();
    assert_eq!(
        (outcome.status, outcome.notes.as_slice()),
        (Status::Exited(0), &["approved by tester".to_owned()][..])
    );
    assert_eq!((outcome.verdict.decision, outcome.approval_id), (Decision::Ask, None));
    assert!(root.path().join("made").exists());
    let questions = questions.lock().unwrap();
    let [question] = questions.as_slice() else { panic!("asked {} times", questions.len()) };
    assert_eq!((question.command.as_str(), &*question.operation_id), (ASKED, "call-1"));
    assert_eq!(question.description.as_deref(), Some("to see"));
    assert_eq!(question.cwd, root.path().canonicalize().unwrap());
    assert_eq!((question.verdict.findings[0].rule.as_str(), &question.approval_id), ("opaque", &None));
    let made = format!("writes {}", question.cwd.join("made").display());
    assert!(question.effects.iter().any(|effect| effect.starts_with(&made)), "{:?}", question.effects);
}

#[tokio::test]
async fn a_denial_says_why_and_nothing_runs() {
    let root = TempDir::new().unwrap();
    let answer = |reason: &'static str| {
        approve_with(
            move |_| async move { Answer::Denied { by: "tester".to_owned(), reason: reason.to_owned() } },
        )
    };
    let context = ToolContext::from_host(root.path());
    let outcome = engine(root.path(), answer("not today")).run(ASKED.into(), &context).await.unwrap();
    assert_eq!((outcome.status, outcome.pid), (Status::Refused, None));
    assert_eq!(outcome.verdict.decision, Decision::Deny);
    let rules: Vec<_> = outcome.verdict.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["approval", "opaque"]);
    assert_eq!(outcome.verdict.findings[0].message, "tester has refused it: not today");
    assert!(outcome.verdict.findings[0].help.contains("do not try it again"));
    let outcome = engine(root.path(), answer("")).run(ASKED.into(), &context).await.unwrap();
    assert_eq!(outcome.verdict.findings[0].message, "tester has refused it: no reason was given");
    assert!(!root.path().join("made").exists());
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_denied_or_allowed() {
    let root = TempDir::new().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let approver = approve_with(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { approved() }
    });
    let engine = engine(root.path(), approver);
    let context = ToolContext::from_host(root.path());
    for command in ["touch made; rm -rf /", "touch made; bashtion approve ask-7k2m9q; $UNSET true"] {
        let outcome = engine.run(command.into(), &context).await.unwrap();
        assert_eq!((outcome.status, outcome.approval_id), (Status::Refused, None), "{command}");
    }
    assert_eq!(engine.run("true".into(), &context).await.unwrap().status, Status::Exited(0));
    assert!(!root.path().join("made").exists());
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

/// An approver that never answers, says when it was asked, and counts the questions that have ended.
fn waiting() -> (Arc<dyn Approver>, Arc<Notify>, Arc<AtomicUsize>) {
    struct Ended(Arc<AtomicUsize>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (asked, ended) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (tell, count) = (Arc::clone(&asked), Arc::clone(&ended));
    let approver = approve_with(move |_| {
        let end = Ended(Arc::clone(&count));
        tell.notify_one();
        async move {
            std::future::pending::<()>().await;
            drop(end);
            approved()
        }
    });
    (approver, asked, ended)
}

#[tokio::test]
async fn cancelling_ends_the_question() {
    let root = TempDir::new().unwrap();
    let (approver, asked, ended) = waiting();
    let cancel = CancellationToken::new();
    let context = ToolContext::from_host(root.path()).cancel(cancel.clone());
    let engine = engine(root.path(), approver);
    let (outcome, ()) = tokio::join!(engine.run(ASKED.into(), &context), async {
        asked.notified().await;
        cancel.cancel();
    });
    let outcome = outcome.unwrap();
    assert_eq!((outcome.status, outcome.pid), (Status::Cancelled, None));
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    assert!(!root.path().join("made").exists());
}

#[tokio::test]
async fn dropping_the_future_ends_the_question_and_is_told() {
    let root = TempDir::new().unwrap();
    let (approver, asked, ended) = waiting();
    let (sender, mut events) = Events::channel();
    let context = ToolContext::from_host(root.path()).events(sender);
    let engine = engine(root.path(), approver);
    tokio::select! {
        _ = engine.run(ASKED.into(), &context) => panic!("nobody has answered"),
        () = asked.notified() => {}
    }
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    assert!(matches!(events.recv().await, Some(Event::Judged { .. })));
    assert!(matches!(events.recv().await, Some(Event::Asked { approval_id: None, .. })));
    assert!(matches!(events.recv().await, Some(Event::Lost { .. })));
    assert!(!root.path().join("made").exists());
}

#[tokio::test]
async fn the_time_for_the_answer_is_not_the_command_s() {
    let root = TempDir::new().unwrap();
    let approver = approve_with(|_| async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        approved()
    });
    let request = Request::new("$UNSET true; sleep 0.1").timeout(Duration::from_millis(600));
    let context = ToolContext::from_host(root.path());
    let outcome = engine(root.path(), approver).run(request, &context).await.unwrap();
    assert_eq!(outcome.status, Status::Exited(0));
}

#[tokio::test]
async fn observers_see_question_and_answer() {
    let root = TempDir::new().unwrap();
    let (sender, mut events) = Events::channel();
    let context = ToolContext::from_host(root.path()).events(sender);
    let engine = engine(root.path(), approve_with(|_| async { approved() }));
    engine.run(ASKED.into(), &context).await.unwrap();
    drop(context);
    let mut seen = vec![];
    while let Some(event) = events.recv().await {
        seen.push(match event {
            Event::Judged { .. } => "judged",
            Event::Asked { command, verdict, .. } => {
                assert_eq!((command.as_str(), verdict.decision), (ASKED, Decision::Ask));
                "asked"
            }
            Event::Answered { answer, .. } => {
                assert_eq!(answer, approved());
                "answered"
            }
            Event::Started { .. } => "started",
            Event::Ended { .. } => "ended",
            Event::Output { .. } | Event::Missed { .. } | Event::Lost { .. } => "other",
        });
    }
    assert_eq!(seen, ["judged", "asked", "answered", "started", "ended"]);
}

#[tokio::test]
async fn without_anybody_nothing_changes() {
    let root = TempDir::new().unwrap();
    let context = ToolContext::from_host(root.path());
    let nobody = engine(root.path(), approve_with(|_| async { Answer::NoAnswer }));
    let outcome = nobody.run(ASKED.into(), &context).await.unwrap();
    assert_eq!((outcome.status, outcome.approval_id), (Status::NeedsApproval, None));
    assert!(!root.path().join("state/private/approvals").exists());
    let unguarded =
        Engine::builder().policy(Policy::off()).approver(approve_with(|_| async { panic!("asked") })).build();
    assert_eq!(unguarded.run(ASKED.into(), &context).await.unwrap().status, Status::Exited(0));
}
