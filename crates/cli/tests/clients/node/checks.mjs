// What the TypeScript SDKs make of the server. Both compare structured content with the schema of the tool by themselves.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { connect, lives, textOf, uniqueSeconds, until } from "./connection.mjs";

const bash = (args) => ({ name: "bash", arguments: args });
const TOOLS = ["bash", "task_list", "task_output", "task_wait", "task_kill", "approval"];

async function commandsRun() {
    const client = await connect();
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
    assert.equal(tools[0].annotations.destructiveHint, true);
    assert.equal(tools[1].annotations.readOnlyHint, true);

    const failed = await client.callTool(bash({ command: "echo out; exit 7" }));
    assert.match(textOf(failed), /^exit 7 after .*\nout$/);
    assert.equal(failed.isError, false);
    assert.equal(failed.structuredContent.exit_code, 7);

    const refused = await client.callTool(bash({ command: "mkfs.ext4 /dev/no-such-device" }));
    assert.equal(refused.isError, true);
    assert.equal(refused.structuredContent.status, "refused");
    await client.close();
}

async function outputComesWhileTheCommandRuns() {
    const client = await connect();
    const seen = [];
    const onprogress = ({ message }) => {
        seen.push(message);
        if (message?.includes("first")) writeFileSync("go", "");
    };
    // It ends only if what it printed first has been seen; and takes longer than the client would wait in silence.
    const command = "echo first; until [ -e go ]; do sleep 0.05; done; for n in 1 2 3 4 5 6; do echo $n; sleep 0.5; done";
    const options = { onprogress, timeout: 2500, resetTimeoutOnProgress: true };
    const result = await client.callTool(bash({ command }), options);
    assert.equal(result.structuredContent.stdout, "first\n1\n2\n3\n4\n5\n6\n", JSON.stringify(seen));
    await client.close();
}

async function cancellingEndsTheCommandAtOnce() {
    const client = await connect();
    const seconds = uniqueSeconds();
    const cancel = new AbortController();
    const command = `trap '' TERM; (setsid sleep ${seconds} &); sleep ${seconds}; sleep ${seconds}`;
    const call = client.callTool(bash({ command }), { signal: cancel.signal });
    const ended = assert.rejects(call);
    await until("it runs", () => lives(seconds));
    cancel.abort();
    await ended;
    await until("it is gone", () => !lives(seconds), 3);
    const next = await client.callTool(bash({ command: "echo still here" }));
    assert.equal(next.structuredContent.stdout, "still here\n");
    await client.close();
}

async function tasksOutliveTheConnection() {
    const seconds = uniqueSeconds();
    const before = await connect();
    const started = await before.callTool(bash({ command: `sleep ${seconds}`, mode: "background" }));
    const { task_id } = started.structuredContent;
    await before.close();
    await until("it runs", () => lives(seconds));

    const after = await connect();
    const killed = await after.callTool({ name: "task_kill", arguments: { task_id } });
    assert.equal(killed.structuredContent.success, false, textOf(killed));
    assert(!lives(seconds));
    await after.close();
}

async function theUserIsAsked() {
    const git = (...args) => execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test", ...args]);
    if (!existsSync(".git")) git("init", "--quiet");
    writeFileSync("file", "committed\n");
    git("add", "file");
    git("commit", "--quiet", "--message", "first");
    writeFileSync("file", "changed\n");
    const answers = [{ action: "decline" }, { action: "accept", content: { decision: "run it" } }];
    const client = await connect({
        elicit: async ({ params }) => {
            assert.match(params.message, /git reset --hard/);
            return answers.shift();
        },
    });
    const declined = await client.callTool(bash({ command: "git reset --hard" }));
    assert.equal(declined.structuredContent.status, "refused", textOf(declined));
    assert.equal(readFileSync("file", "utf8"), "changed\n");
    const agreed = await client.callTool(bash({ command: "git reset --hard" }));
    assert.equal(agreed.structuredContent.status, "exited", textOf(agreed));
    assert.equal(readFileSync("file", "utf8"), "committed\n");
    assert.equal(answers.length, 0);
    await client.close();
}

async function nobodyGetsInWithoutTheToken() {
    if (process.env.URL) await assert.rejects(connect({ token: "wrong" }), /401|server's token/);
}

for (const check of [
    commandsRun,
    outputComesWhileTheCommandRuns,
    cancellingEndsTheCommandAtOnce,
    tasksOutliveTheConnection,
    theUserIsAsked,
    nobodyGetsInWithoutTheToken,
]) {
    console.error(check.name);
    await check();
}
