//! The tools, over any transport: which there are, and who answers which.
//!
//! Nothing is remembered between two calls: tasks, sessions and questions are named in the arguments, and are where the engine
//! keeps them. So one server serves any number of clients, and another one after it goes on where it ended.

mod approval;
mod arguments;
mod asking;
mod bash;
mod progress;
mod reply;
mod running;
mod tasks;
mod tools;
mod wrong;

use std::path::PathBuf;
use std::sync::Arc;

use bashtion::{CancellationToken, Engine, Network, Profile, SandboxMode, ToolContext};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, RequestStateCodec, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::http::Connection;
use running::Running;

/// What a server needs to know.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Setup {
    /// Runs the commands.
    pub engine: Engine,
    /// What models are told, and how results are put.
    pub profile: Profile,
    /// Where commands run that do not say where.
    pub cwd: PathBuf,
    /// Where commands may run and what they may change: everything else is no business of this server's.
    pub roots: Vec<PathBuf>,
    /// What becomes of a command that somebody has to agree to.
    pub questions: Questions,
    /// Whether results have a structured part beside the text.
    pub structured: bool,
    /// How many commands run at once. Others wait.
    pub most_at_once: usize,
}

/// What becomes of a command that somebody has to agree to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// The user is asked through their client, if it can; else the question waits in the engine's queue.
    Ask,
    /// As the engine has it.
    Refuse,
}

impl Setup {
    /// A server for one directory.
    #[must_use]
    pub fn new(engine: Engine, profile: Profile, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        let roots = vec![cwd.clone()];
        Self { engine, profile, cwd, roots, questions: Questions::Refuse, structured: true, most_at_once: 64 }
    }
}

/// An MCP server. Clones are the same one.
///
/// ```
/// use bashtion::{Engine, Profile};
/// use bashtion_server::{Server, Setup};
/// let server = Server::new(Setup::new(Engine::new(), Profile::default(), "/srv/project"));
/// assert_eq!(server.tool_names(), ["bash", "task_list", "task_output", "task_wait", "task_kill"]);
/// ```
#[derive(Debug, Clone)]
pub struct Server {
    shared: Arc<Shared>,
    /// The client of this one is gone.
    gone: CancellationToken,
}

#[derive(Debug)]
struct Shared {
    setup: Setup,
    /// Who calls, as the engine sees it.
    caller: ToolContext,
    tools: Vec<Tool>,
    running: Running,
    /// Seals what a client has to bring back.
    codec: RequestStateCodec,
}

/// For whoever reads what the server is: what every client tells its model first.
const INSTRUCTIONS: &str = "\
Runs shell commands: judged before they run, confined by the kernel while they run, reported exactly. Use `bash` for commands; \
with mode background for servers and anything long, then `task_output`, `task_wait` and `task_kill` with the task_id of the result.";

impl Server {
    /// A server that runs nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let tools = tools::all(&setup);
        let running = Running::new(setup.most_at_once);
        let codec = RequestStateCodec::new_unchecked(asking::key());
        let caller = ToolContext::from_host(setup.cwd.clone()).roots(setup.roots.clone());
        let shared = Arc::new(Shared { setup, caller, tools, running, codec });
        Self { shared, gone: CancellationToken::new() }
    }

    /// The same for another client: its commands end when the token is cancelled.
    pub(crate) fn for_client(&self, gone: CancellationToken) -> Self {
        Self { shared: Arc::clone(&self.shared), gone }
    }

    /// In the order in which clients are told them.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.shared.tools.iter().map(|tool| tool.name.as_ref()).collect()
    }

    /// Whether what runs here could reach what listens here.
    #[must_use]
    pub fn lets_commands_use_the_network(&self) -> bool {
        let sandbox = &self.shared.setup.profile.sandbox;
        sandbox.mode == SandboxMode::Off || sandbox.network == Network::On
    }

    /// Ends all commands that somebody waits for, and waits until they have ended. No others are run from then on.
    pub async fn stop(&self) {
        self.shared.running.stop().await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let implementation =
            Implementation::new("bashtion", env!("CARGO_PKG_VERSION")).with_title("Bashtion");
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(self.shared.tools.clone());
        // They stay what they are while the server runs; whose they are depends on the directory.
        (list.ttl_ms, list.cache_scope) = (Some(60_000), Some(CacheScope::Private));
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools.iter().find(|tool| tool.name == name).cloned()
    }

    // What there is none of is not answered with an empty list.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    /// What is no request that the protocol knows, or looks like one and is not.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let modern =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let known = match request.method.as_str() {
            // Newer protocols have no handshake.
            "initialize" => !modern,
            other => ["server/discover", "tools/call", "tools/list"].contains(&other),
        };
        Err(match request.method.as_str() {
            method if known => {
                let message = format!("the params of {method} are not as the protocol has them");
                ErrorData::invalid_params(message, None)
            }
            other => {
                let message = format!("there is no method {:?} here", bashtion::visible(other));
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
            }
        })
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let shared = &self.shared;
        // Which tool, never with what: commands and their output may hold secrets.
        tracing::info!(tool = call.name.as_ref(), "called");
        let gone = &Connection::of(&context.extensions).unwrap_or_else(|| self.gone.clone());
        let done = match call.name.as_ref() {
            name if name == shared.setup.profile.tool.name => {
                Box::pin(bash::call(shared, gone, call, context)).await
            }
            tools::TASK_LIST => tasks::list(shared, call.arguments).await.map(Into::into),
            tools::TASK_OUTPUT => tasks::output(shared, call.arguments).await.map(Into::into),
            tools::TASK_WAIT => tasks::wait(shared, gone, call.arguments, &context).await.map(Into::into),
            tools::TASK_KILL => tasks::kill(shared, call.arguments).await.map(Into::into),
            tools::APPROVAL if shared.setup.questions == Questions::Ask => {
                approval::look(shared, gone, call.arguments, &context).await.map(Into::into)
            }
            other => {
                let known = self.tool_names().join(", ");
                let message = format!("there is no tool {:?}; there are {known}", bashtion::visible(other));
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(done.unwrap_or_else(|wrong| CallToolResult::from(wrong).into()))
    }
}
