// Tells edio, the undo of this project, what OpenCode does: edio init wrote this file, and edio init --remove removes it.
// Without edio it does nothing. It never throws, and changes nothing of what OpenCode does.
import { spawnSync } from "node:child_process"

// Of long texts only the beginning is told.
const MOST = 16384
const short = (value) => (typeof value === "string" ? value.slice(0, MOST) : value)

const quietly = (work) => {
  try {
    work()
  } catch {}
}

export const EdioPlugin = async (context) => {
  // Helpers have sessions of their own: what they do belongs to the one that called them.
  const parents = new Map()
  const root = (session) => (parents.has(session) ? root(parents.get(session)) : session)

  const tell = (event, session, more) => {
    const said = { hook_event_name: event, session_id: root(session), cwd: context.directory, ...more }
    spawnSync("edio", ["hook", "opencode"], {
      input: JSON.stringify(said),
      stdio: ["pipe", "ignore", "ignore"],
      timeout: 3000,
      windowsHide: true,
    })
  }

  return {
    "chat.message": async (input, output) =>
      quietly(() => {
        if (parents.has(input.sessionID)) return
        const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const prompt = texts.map((part) => part.text).join("\n")
        tell("chat.message", input.sessionID, { prompt, prompt_id: output.message.id, model: input.model?.modelID })
      }),

    "tool.execute.after": async (input, output) =>
      quietly(() => {
        const { patchText, ...rest } = input.args ?? {}
        const args = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, short(value)]))
        // The files that a patch names are all in it.
        const more = { tool_name: input.tool, tool_use_id: input.callID, tool_input: { ...args, patchText } }
        const helper = parents.has(input.sessionID) ? { agent_id: input.sessionID } : {}
        tell("tool.execute.after", input.sessionID, { ...more, ...helper, tool_response: short(output?.output) })
      }),

    event: async ({ event }) =>
      quietly(() => {
        const { sessionID, info, error } = event.properties
        if (event.type === "session.created" && info.parentID) parents.set(info.id, info.parentID)
        if (event.type === "session.idle") tell(event.type, sessionID, { is_helper: parents.has(sessionID) })
        if (event.type === "session.error" && sessionID && !parents.has(sessionID)) {
          tell(event.type, sessionID, { error: error?.name })
        }
      }),
  }
}
