// Written by `bashtion hook opencode --install`, removed by `bashtion hook opencode --uninstall`.
// Asks Bashtion about every command of the shell. Without an answer nothing runs.
import { spawn } from "node:child_process"

const COMMAND = []

const ask = (question) =>
  new Promise((resolve, reject) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "inherit"], timeout: 30000 })
    const printed = []
    child.on("error", reject)
    child.stdin.on("error", reject)
    child.stdout.on("data", (piece) => printed.push(piece))
    child.on("close", () => {
      try {
        resolve(JSON.parse(Buffer.concat(printed).toString()))
      } catch (error) {
        reject(error)
      }
    })
    child.stdin.end(JSON.stringify(question))
  })

export const Bashtion = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    if (input.tool !== "bash") return
    let answer
    try {
      answer = await ask({ tool: input.tool, args: output.args, cwd: directory })
    } catch (error) {
      throw new Error(`Bashtion could not be asked, so nothing was run: ${error.message}`)
    }
    if (answer?.decision !== "none") {
      throw new Error(answer?.reason ?? "Bashtion gave no answer, so nothing was run")
    }
    if (answer.args) Object.assign(output.args, answer.args)
  },
})
