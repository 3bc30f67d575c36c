// Tells edio, the undo of this project, what pi does: edio init wrote this file, and edio init --remove removes it.
// Without edio it does nothing. It never throws, and changes nothing of what pi does; a notice of the guard, where that is
// turned on, is added to what a tool has answered.
import { spawnSync } from "node:child_process";

// Of long texts only the beginning is told.
const MOST = 16384;
// Half a character at the end would be no text for edio.
const whole = (text) => text.toWellFormed?.() ?? text;
const short = (value) => (typeof value === "string" ? whole(value.slice(0, MOST)) : value);

export default function (pi) {
  const tell = (event, context, more) => {
    try {
      const session = context.sessionManager.getSessionId();
      const transcript = context.sessionManager.getSessionFile?.();
      const said = {
        hook_event_name: event,
        session_id: session,
        transcript_path: transcript,
        cwd: context.cwd,
        model: context.model?.id,
        ...more(),
      };
      const answer = spawnSync("edio", ["hook", "pi"], {
        input: JSON.stringify(said),
        stdio: ["pipe", "pipe", "ignore"],
        timeout: 3000,
        windowsHide: true,
      });
      return JSON.parse(answer.stdout || "{}");
    } catch {
      return {};
    }
  };

  pi.on("before_agent_start", async (event, context) => {
    tell("before_agent_start", context, () => ({ prompt: short(event.prompt) }));
  });

  pi.on("tool_result", async (event, context) => {
    const { notice } = tell("tool_result", context, () => ({
      tool_name: event.toolName,
      tool_use_id: event.toolCallId,
      tool_input: Object.fromEntries(Object.entries(event.input ?? {}).map(([name, value]) => [name, short(value)])),
      tool_response: event.content?.map((part) => ({ text: short(part.text) })),
      ...(event.isError ? { error: "failed" } : {}),
    }));
    if (notice) return { content: [...(event.content ?? []), { type: "text", text: notice }] };
  });

  // A run that ends may be tried again, or go on: it is over when it has settled.
  let reason;
  pi.on("agent_end", async (event) => {
    reason = event.messages?.at(-1)?.stopReason;
  });

  pi.on("agent_settled", async (event, context) => {
    tell("agent_settled", context, () => ({ stop_reason: event.aborted ? "aborted" : reason }));
  });

  pi.on("session_shutdown", async (_event, context) => {
    tell("session_shutdown", context, () => ({}));
  });
}
