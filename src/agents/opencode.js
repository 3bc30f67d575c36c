// Tells edio, the undo of this project, what OpenCode does: edio init wrote this file, and edio init --remove removes it.
// Without edio it does nothing. It never throws, and changes nothing of what OpenCode does; a notice of the guard, where that
// is turned on, is added to what a tool has answered.
import { spawnSync } from "node:child_process"

// Of long texts only the beginning is told, and of a long conversation only its last parts.
const MOST = 16384
const MOST_OF_A_PART = 4096
const MOST_PARTS = 200

// Half a character at the end would be no text for edio.
const whole = (text) => text.toWellFormed?.() ?? text
const short = (value, most = MOST) => (typeof value === "string" ? whole(value.slice(0, most)) : value)
const shortFields = (fields, most) =>
  Object.fromEntries(Object.entries(fields ?? {}).map(([name, value]) => [name, short(value, most)]))

const quietly = (work) => {
  try {
    work()
  } catch {}
}

export const EdioPlugin = async (context) => {
  // Helpers have sessions of their own: what they do belongs to the one that called them.
  const parents = new Map()
  const root = (session) => (parents.has(session) ? root(parents.get(session)) : session)

  // What was said since it was told last: of each conversation the parts of its messages, by their ids. OpenCode may end
  // right after a prompt has ended, so nothing is asked for then.
  const said = new Map()
  const roles = new Map()
  const cut = new Map()

  const tell = (event, session, more) => {
    const payload = { hook_event_name: event, session_id: root(session), cwd: context.directory, ...more }
    const answer = spawnSync("edio", ["hook", "opencode"], {
      input: JSON.stringify(payload),
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 3000,
      windowsHide: true,
    })
    return JSON.parse(answer.stdout || "{}")
  }

  const used = (tool, session, call, args, more) => {
    // The files that a patch names are all in it.
    const { patchText, ...rest } = args ?? {}
    const input = { ...shortFields(rest), patchText }
    const helper = parents.has(session) ? { agent_id: session } : {}
    return tell("tool.execute.after", session, { tool_name: tool, tool_use_id: call, tool_input: input, ...helper, ...more })
  }

  const inShort = ({ id, sessionID, messageID, type, text, tool, callID, state }) => {
    const head = { id, sessionID, messageID, role: roles.get(messageID), type }
    if (type !== "tool") return { ...head, text: short(text, MOST_OF_A_PART) }
    const { status, input, output, error } = state
    const given = shortFields(input, MOST_OF_A_PART)
    const answer = { output: short(output, MOST_OF_A_PART), error: short(error, MOST_OF_A_PART) }
    return { ...head, tool, callID, state: { status, input: given, ...answer } }
  }

  const note = (part) => {
    if (parents.has(part.sessionID)) return
    const parts = said.get(part.sessionID) ?? new Map()
    said.set(part.sessionID, parts)
    parts.set(part.id, inShort(part))
    if (parts.size <= MOST_PARTS) return
    const [first, gone] = parts.entries().next().value
    parts.delete(first)
    cut.set(part.sessionID, (cut.get(part.sessionID) ?? 0) + JSON.stringify(gone).length)
  }

  // What was said until now, once.
  const gained = (session) => {
    const parts = [...(said.get(session)?.values() ?? [])]
    const words = parts.filter((part) => part.type === "text" && part.role === "assistant" && part.text)
    const more = { gained: parts, gained_cut: cut.get(session) ?? 0, last_assistant_message: words.at(-1)?.text }
    said.delete(session)
    cut.delete(session)
    if (said.size === 0) roles.clear()
    return more
  }

  const ended = new Set(["completed", "error"])

  return {
    "chat.message": async (input, output) =>
      quietly(() => {
        if (parents.has(input.sessionID)) return
        const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const prompt = short(texts.map((part) => part.text).join("\n"))
        const { last_assistant_message, ...before } = gained(input.sessionID)
        const more = { prompt, prompt_id: output.message.id, model: input.model?.modelID }
        tell("chat.message", input.sessionID, { ...more, ...before })
      }),

    "tool.execute.after": async (input, output) =>
      quietly(() => {
        const failed = output?.metadata?.exit ? { success: false } : {}
        const answer = { tool_response: short(output?.output), ...failed }
        const { notice } = used(input.tool, input.sessionID, input.callID, input.args, answer)
        if (notice && typeof output?.output === "string") output.output += `\n\n${notice}`
      }),

    event: async ({ event }) =>
      quietly(() => {
        const { sessionID, messageID, partID, info, part, error } = event.properties
        switch (event.type) {
          case "session.created":
            if (info.parentID) parents.set(info.id, info.parentID)
            break
          case "message.updated":
            roles.set(info.id, info.role)
            break
          case "message.part.updated":
            if (["text", "reasoning"].includes(part.type)) note(part)
            if (part.type !== "tool" || !ended.has(part.state.status)) break
            note(part)
            // Of a tool that fails no hook is called.
            if (part.state.status === "error") {
              used(part.tool, part.sessionID, part.callID, part.state.input, { error: short(part.state.error) })
            }
            break
          case "message.part.removed":
            said.get(sessionID)?.delete(partID)
            break
          case "message.removed":
            for (const [id, part] of said.get(sessionID) ?? []) {
              if (part.messageID === messageID) said.get(sessionID).delete(id)
            }
            break
          case "session.idle": {
            const is_helper = parents.has(sessionID)
            tell(event.type, sessionID, { is_helper, ...(is_helper ? {} : gained(sessionID)) })
            break
          }
          case "session.error":
            if (sessionID && !parents.has(sessionID)) {
              tell(event.type, sessionID, { error: error?.name, ...gained(sessionID) })
            }
        }
      }),
  }
}
