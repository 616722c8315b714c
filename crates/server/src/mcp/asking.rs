//! Asking the user through their client.
//!
//! Three ways. A client of the older protocols is asked while the call waits (elicitation). One of 2026-07-28 and later gets the
//! question as the result, and makes the same call again with the answer (`input_required`): what ties the two together is sealed,
//! names the question in the queue, and holds for exactly what was asked about, so it can be used once and for nothing else.
//! Where the client cannot ask anybody, the question waits in the queue, and the result says under which name.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bashtion::{Answer, Answering, ApprovalId, Approver, Decision, Question, visible};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, RequestStateCodec, SealOptions,
};
use rmcp::service::{Peer, RequestContext};

use super::Shared;
use super::progress::Progress;

/// How long the user may take.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The name of the one thing that is asked.
const KEY: &str = "approval";

/// Whoever is asked about one call.
#[derive(Debug)]
pub(super) struct Asked {
    way: Way,
    client: String,
    codec: RequestStateCodec,
    progress: Option<Progress>,
    /// What the client has brought back.
    brought: Option<Brought>,
    /// What could not be answered here and now.
    open: Mutex<Option<Question>>,
}

#[derive(Debug)]
struct Brought {
    state: String,
    responses: InputResponses,
}

/// How this client can be asked.
#[derive(Debug)]
enum Way {
    WhileItWaits(Peer<RoleServer>),
    WithTheNextCall,
    NotAtAll,
}

impl Asked {
    pub(super) fn new(
        shared: &Shared,
        context: &RequestContext<RoleServer>,
        can_come_back: bool,
        state: Option<String>,
        responses: Option<InputResponses>,
    ) -> Self {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // Who says nothing about the kind means forms.
        let has_forms = elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none());
        let modern =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let way = match (has_forms, modern) {
            (true, true) if can_come_back => Way::WithTheNextCall,
            (true, false) => Way::WhileItWaits(context.peer.clone()),
            _ => Way::NotAtAll,
        };
        let client =
            context.client_info().map_or_else(|| "the client".to_owned(), |info| visible(&info.name));
        Self {
            way,
            client,
            codec: shared.codec.clone(),
            progress: Progress::of(context),
            brought: state.map(|state| Brought { state, responses: responses.unwrap_or_default() }),
            open: Mutex::new(None),
        }
    }

    /// The question as a result, if this client can bring back the answer to it.
    pub(super) fn question_to_bring_back(&self, id: &ApprovalId) -> Option<InputRequiredResult> {
        if !matches!(self.way, Way::WithTheNextCall) {
            return None;
        }
        let question = self.open.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let options = SealOptions::new().associated_data(question.fingerprint().as_bytes()).ttl(PATIENCE);
        let state = self.codec.seal_with(id.as_str().as_bytes(), &options);
        let request = InputRequest::Elicitation(ElicitRequest::new(form(&question)));
        Some(InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), request)])), Some(state)))
    }

    /// What the client has brought back, if it is about this very question, which still waits.
    fn brought_back(&self, question: &Question) -> Option<Answer> {
        let brought = self.brought.as_ref()?;
        let id = self.codec.open_with(&brought.state, question.fingerprint().as_bytes()).ok()?;
        if question.approval_id.as_ref()?.as_str().as_bytes() != id {
            return None;
        }
        let response = brought.responses.get(KEY)?;
        let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
        Some(self.meant(&result))
    }

    async fn while_it_waits(&self, peer: &Peer<RoleServer>, question: &Question) -> Answer {
        let asking = peer.create_elicitation_with_timeout(form(question), Some(PATIENCE));
        let answered = match &self.progress {
            None => asking.await,
            Some(progress) => {
                let remind = async {
                    loop {
                        progress.tell("waiting for the user to agree".to_owned()).await;
                        tokio::time::sleep(Duration::from_secs(10)).await;
                    }
                };
                tokio::select! {
                    answered = asking => answered,
                    () = remind => return Answer::NoAnswer,
                }
            }
        };
        // Who cannot be reached has not answered: the question waits in the queue.
        answered.map_or(Answer::NoAnswer, |result| self.meant(&result))
    }

    /// Only an approval that says so is one.
    fn meant(&self, result: &ElicitResult) -> Answer {
        let by = format!("the user (through {})", self.client);
        let said = |name: &str| result.content.as_ref().and_then(|content| content.get(name)?.as_str());
        let reason = || said("reason").unwrap_or_default().trim().to_owned();
        match result.action {
            ElicitationAction::Accept if said("decision") == Some("run it") => Answer::Approved { by },
            ElicitationAction::Accept | ElicitationAction::Decline => Answer::Denied { by, reason: reason() },
            _ => Answer::NoAnswer,
        }
    }
}

impl Approver for Asked {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(async move {
            match &self.way {
                Way::WhileItWaits(peer) => self.while_it_waits(peer, question).await,
                Way::WithTheNextCall => match self.brought_back(question) {
                    Some(answer) => answer,
                    None => {
                        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                        *open = Some(question.clone());
                        Answer::NoAnswer
                    }
                },
                Way::NotAtAll => Answer::NoAnswer,
            }
        })
    }
}

fn form(question: &Question) -> ElicitRequestParams {
    let decisions = vec!["run it".to_owned(), "do not run it".to_owned()];
    let schema = ElicitationSchema::builder()
        .required_enum_schema("decision", EnumSchema::builder(decisions).build())
        .optional_string_with("reason", |reason| reason.description("For the agent, if you do not agree."))
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(question),
        requested_schema: schema,
    }
}

/// Everything that somebody needs who decides. Nothing of it may look like what it is not.
fn message(question: &Question) -> String {
    const MOST: usize = 20;
    let lines =
        |text: &str| -> String { text.split('\n').map(|line| format!("  | {}\n", visible(line))).collect() };
    let mut text = format!("May this command run?\n\n{}", lines(&question.command));
    if !question.command.is_ascii() {
        text += "(It contains characters that may look like others.)\n";
    }
    text += &format!("\nin:\n{}", lines(&question.cwd.to_string_lossy()));
    if let Some(description) = &question.description {
        text += &format!("what the agent says it is for:\n{}", lines(description));
    }
    text += "why you are asked:\n";
    let findings = question.verdict.findings.iter().filter(|finding| finding.severity != Decision::Allow);
    text.extend(findings.map(|finding| lines(&format!("{} ({})", finding.message, finding.rule))));
    for (title, list) in [
        ("what it gets if you agree, beside what every command has", &question.grant.in_words()),
        ("what it would do", &question.effects),
        ("how it would run", &question.circumstances),
    ] {
        if list.is_empty() {
            continue;
        }
        text += &format!("{title}:\n");
        text.extend(list.iter().take(MOST).map(|line| lines(line)));
        if list.len() > MOST {
            text += &format!("  and {} more\n", list.len() - MOST);
        }
    }
    text
}

/// A key for as long as this process lives.
pub(super) fn key() -> Vec<u8> {
    let mut key = vec![0; 32];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut key));
    if read.is_err() {
        // Seeded by the system, too.
        key = (0..4).flat_map(|part: u64| RandomState::new().hash_one(part).to_ne_bytes()).collect();
    }
    key
}
