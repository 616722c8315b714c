// A small agent whose shell is Bashtion, over MCP. See ../README.md.

import process from "node:process";
import readline from "node:readline/promises";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { BASE_URL = "http://127.0.0.1:11434/v1", MODEL = "qwen3", API_KEY = "none", BASHTION = "bashtion" } = process.env;
const MOST_TURNS = 50;
const MINUTE = 60_000;

// Ctrl-C cancels the call that is being made, and the server then ends the command with all its processes.
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());

// The next message of the model: what it says, or the calls it wants made.
async function askModel(messages, tools) {
    const answer = await fetch(`${BASE_URL}/chat/completions`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${API_KEY}` },
        body: JSON.stringify({ model: MODEL, messages, tools }),
        signal: interrupt.signal,
    });
    if (!answer.ok) throw new Error(`the model answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()).choices[0].message;
}

// Bashtion wants somebody to agree. The question says to what, and why.
async function askUser({ params }) {
    const terminal = readline.createInterface({ input: process.stdin, output: process.stderr });
    const said = await terminal.question(`${params.message}\nRun it? [y/N] `, { signal: interrupt.signal });
    terminal.close();
    return { action: "accept", content: { decision: /^y(es)?$/i.test(said.trim()) ? "run it" : "do not run it" } };
}

async function connect() {
    // A client that can ask nobody must not say that it can: the question then waits for `bashtion approve`.
    const capabilities = process.stdin.isTTY ? { elicitation: { form: {} } } : {};
    const client = new Client(
        { name: "example-agent", version: "1.0.0" },
        { capabilities, versionNegotiation: { mode: "auto" } },
    );
    if (process.stdin.isTTY) client.setRequestHandler("elicitation/create", askUser);
    // One text per answer is enough here: it says everything that the structured part would.
    await client.connect(new StdioClientTransport({ command: BASHTION, args: ["serve", "--text-only"] }));
    return client;
}

// Makes one call of the model. What is wrong with it is for the model, too.
async function run(client, { function: { name, arguments: text } }) {
    let args;
    try {
        args = JSON.parse(text || "{}");
    } catch (error) {
        return `the arguments are not JSON: ${error.message}`;
    }
    const result = await client.callTool(
        { name, arguments: args },
        {
            signal: interrupt.signal,
            // What a command prints while it runs; a silent one says every ten seconds that it is alive.
            onprogress: ({ message }) => process.stderr.write(message ?? ""),
            timeout: MINUTE,
            resetTimeoutOnProgress: true,
        },
    );
    return result.content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
}

async function agent(task) {
    const client = await connect();
    try {
        const tools = (await client.listTools()).tools.map(({ name, description, inputSchema }) => ({
            type: "function",
            function: { name, description, parameters: inputSchema },
        }));
        const messages = [
            { role: "system", content: client.getInstructions() },
            { role: "user", content: task },
        ];
        for (let turn = 0; turn < MOST_TURNS; turn++) {
            const message = await askModel(messages, tools);
            messages.push(message);
            if (!message.tool_calls?.length) return message.content;
            for (const call of message.tool_calls) {
                messages.push({ role: "tool", tool_call_id: call.id, content: await run(client, call) });
            }
        }
        return `no end after ${MOST_TURNS} turns`;
    } finally {
        await client.close();
    }
}

try {
    console.log(await agent(process.argv.slice(2).join(" ") || "What is in this directory?"));
} catch (error) {
    if (!interrupt.signal.aborted) throw error;
    process.exitCode = 130;
}
