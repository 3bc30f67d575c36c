// Asks the guard of edio before each use of a tool: edio guard on wrote this file, and edio guard off removes it.
// Without edio, or where the guard has nothing to say, every tool is used.
import { spawnSync } from "node:child_process";

export default function (pi) {
  const ask = (event, context, more) => {
    try {
      const said = {
        hook_event_name: event,
        session_id: context.sessionManager.getSessionId(),
        cwd: context.cwd,
        ...more,
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

  pi.on("tool_call", async (event, context) => {
    const more = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input };
    const why = ask("tool_call", context, more).block;
    if (why) return { block: true, reason: why };
  });

  pi.on("session_compact", async (_event, context) => {
    ask("session_compact", context, {});
  });
}
