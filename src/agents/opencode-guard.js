// Asks the guard of edio before each use of a tool: edio guard on wrote this file, and edio guard off removes it.
// Without edio, or where the guard has nothing to say, every tool is used.
import { spawnSync } from "node:child_process"

export const EdioGuardPlugin = async (context) => {
  const parents = new Map()
  const root = (session) => (parents.has(session) ? root(parents.get(session)) : session)

  const ask = (event, session, more) => {
    const helper = parents.has(session) ? { agent_id: session } : {}
    const said = { hook_event_name: event, session_id: root(session), cwd: context.directory, ...helper, ...more }
    const answer = spawnSync("edio", ["hook", "opencode"], {
      input: JSON.stringify(said),
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 3000,
      windowsHide: true,
    })
    return JSON.parse(answer.stdout || "{}")
  }

  return {
    "tool.execute.before": async (input, output) => {
      let why
      try {
        const more = { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
        why = ask("tool.execute.before", input.sessionID, more).block
      } catch {}
      // An error is what keeps OpenCode from using the tool, and what its model gets to see.
      if (why) throw new Error(why)
    },

    event: async ({ event }) => {
      try {
        const { sessionID, info } = event.properties
        if (event.type === "session.created" && info.parentID) parents.set(info.id, info.parentID)
        if (event.type === "session.compacted") ask(event.type, sessionID, {})
      } catch {}
    },
  }
}
