// How the checks reach the server: by the first SDK (SDK=1), or by the second in one of its modes (SDK=2).

import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const { BASHTION, MODE, SDK, TOKEN, URL: url } = process.env;

const PROTOCOLS = { legacy: "2025-11-25", auto: "2026-07-28" };

// A client that has said hello. `elicit` answers the questions that it is asked; without it, it cannot be asked.
export async function connect({ elicit, token = TOKEN } = {}) {
    const capabilities = elicit ? { elicitation: {} } : {};
    const { client, transports, onElicit } = SDK === "1" ? await first(capabilities) : await second(capabilities);
    if (elicit) onElicit(elicit);
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const transport = url
        ? new transports.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
        : new transports.StdioClientTransport({ command: BASHTION, args: ["serve"], env: { HOME: process.env.HOME } });
    await client.connect(transport);
    return client;
}

async function first(capabilities) {
    const sdk = "@modelcontextprotocol/sdk";
    const { Client } = await import(`${sdk}/client/index.js`);
    const { ElicitRequestSchema } = await import(`${sdk}/types.js`);
    const client = new Client({ name: "checks", version: "1" }, { capabilities });
    const call = client.callTool.bind(client);
    client.callTool = (params, options) => call(params, undefined, options);
    const transports = {
        ...(await import(`${sdk}/client/stdio.js`)),
        ...(await import(`${sdk}/client/streamableHttp.js`)),
    };
    return { client, transports, onElicit: (answer) => client.setRequestHandler(ElicitRequestSchema, answer) };
}

async function second(capabilities) {
    const sdk = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const client = new sdk.Client(
        { name: "checks", version: "1" },
        { capabilities, versionNegotiation: { mode: MODE } },
    );
    const connectTo = client.connect.bind(client);
    client.connect = async (transport) => {
        await connectTo(transport);
        const agreed = client.getNegotiatedProtocolVersion();
        if (agreed !== PROTOCOLS[MODE]) throw new Error(`they agreed on ${agreed}`);
    };
    return {
        client,
        transports: { ...sdk, StdioClientTransport },
        onElicit: (answer) => client.setRequestHandler("elicitation/create", answer),
    };
}

// Waits for a condition; what never comes true is an error.
export async function until(what, condition, seconds = 20) {
    for (const end = Date.now() + seconds * 1000; !condition(); await sleep(20)) {
        if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    }
}

// Whether a process has this word on its command line.
export function lives(word) {
    return readdirSync("/proc").some((pid) => {
        try {
            return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
        } catch {
            return false;
        }
    });
}

// So long that nobody waits for it, and nobody else sleeps for just as long.
export const uniqueSeconds = () => `98765.${process.pid}${process.hrtime.bigint() % 1_000_000_000n}`;

export const textOf = (result) => result.content.map((block) => block.text).join("\n");
