"""A model on this machine that plays a script, for agents that are to run whole turns without any network.

It answers what the common interfaces ask: Anthropic's messages, OpenAI's responses and chat completions, Gemini's
generateContent, each in one piece or as a stream.

The script is an object: words that occur in a prompt, and what the model does when it was told them, a list of steps.

    {"tool": NAME, "args": {...}}   calls a tool; the first of several names, in a list, that the agent offers.
                                    "*end" stands for any name that ends so. Text as args goes to a tool that takes text.
    {"text": "..."}                 says something, and ends the turn
    {"error": 400}                  fails, with this status

Where the conversation stands is read off it: the last prompt that the script knows, and how many results of tools have
come since. So the model needs no memory, and one script serves several conversations, helpers' too. After the last step,
and where a tool is to be called and none are offered (agents ask for titles, too), it says "done".
"""

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DONE = {"text": "done"}


class FakeModel(ThreadingHTTPServer):
    """The server. Each request, and what was answered, is a line of the log: an object in JSON."""

    def __init__(self, port, script, log):
        super().__init__(("127.0.0.1", port), Handler)
        self.script, self.log = script, log
        self.lock = threading.Lock()

    def note(self, **fields):
        with self.lock, open(self.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(fields) + "\n")

    def step(self, conversation, tools):
        """What comes next, with the one name of the tool. `conversation` has pairs: whether it is a tool's result, and
        the text."""
        steps, at = [], 0
        for is_result, text in conversation:
            known = [words for words in self.script if words in text]
            if is_result:
                at += 1
            elif known:
                steps, at = self.script[known[-1]], 0
        step = steps[at] if at < len(steps) else DONE
        if "tool" not in step:
            return step
        if not tools:
            return DONE
        wanted = step["tool"] if isinstance(step["tool"], list) else [step["tool"]]
        for want in wanted:
            for name in tools:
                if name == want or want.startswith("*") and name.endswith(want[1:]):
                    return {**step, "tool": name}
        return {"text": "none of %s is among the tools: %s" % (wanted, sorted(tools))}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer({})

    def do_GET(self):
        model = {"id": "fake-model", "object": "model", "type": "model", "display_name": "Fake"}
        self.server.note(path=self.path)
        self.answer({"object": "list", "data": [model], "models": []})

    def do_POST(self):
        body = json.loads(self.body() or b"{}")
        path = self.path.split("?")[0]
        interface = next((known for end, known in INTERFACES.items() if path.endswith(end)), None)
        if interface is None:
            self.server.note(path=self.path, body=body)
            return self.answer({"input_tokens": 1, "totalTokens": 1})
        conversation, tools = interface.asked(body)
        step = self.server.step(conversation, tools)
        results = [text for is_result, text in conversation if is_result]
        self.server.note(path=self.path, tools=sorted(tools), results=results, step=step, body=body)
        if "error" in step:
            return self.answer({"error": {"type": "error", "message": "as the script says"}}, step["error"])
        whole, pieces = interface.said(step, tools, body, uuid.uuid4().hex)
        is_stream = body.get("stream") or "stream" in path
        self.stream(pieces) if is_stream else self.answer(whole)

    def body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, value, status=200):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def stream(self, pieces):
        """Server-sent events; those that have a type bear it as their name."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in pieces:
            name = "event: %s\n" % piece["type"] if "type" in piece else ""
            self.wfile.write((name + "data: " + json.dumps(piece) + "\n\n").encode())
        if self.path.endswith("/chat/completions"):
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def parts(content):
    """Content is text, or a list of parts."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


class Messages:
    """Anthropic's messages."""

    @staticmethod
    def asked(body):
        conversation = [
            (part["type"] == "tool_result", part.get("text") or json.dumps(part.get("content")))
            for message in body["messages"]
            if message["role"] == "user"
            for part in parts(message["content"])
        ]
        return conversation, {tool["name"]: tool for tool in body.get("tools") or []}

    @staticmethod
    def said(step, _tools, body, unique):
        if "tool" in step:
            args = step.get("args", {})
            begun = {"type": "tool_use", "id": "toolu_%s" % unique, "name": step["tool"], "input": {}}
            more = {"type": "input_json_delta", "partial_json": json.dumps(args)}
            full, end = {**begun, "input": args}, "tool_use"
        else:
            begun = {"type": "text", "text": ""}
            more = {"type": "text_delta", "text": step["text"]}
            full, end = {"type": "text", "text": step["text"]}, "end_turn"
        message = {
            "id": "msg_%s" % unique,
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [full],
            "stop_reason": end,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        ended = {"stop_reason": end, "stop_sequence": None}
        return message, [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": begun},
            {"type": "content_block_delta", "index": 0, "delta": more},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]


class Responses:
    """OpenAI's responses."""

    @staticmethod
    def asked(body):
        conversation, offered = [], list(body.get("tools") or [])
        for item in parts(body["input"]):
            if item["type"] == "additional_tools":
                offered += item["tools"]
            elif item["type"].endswith("_output"):
                conversation.append((True, json.dumps(item.get("output"))))
            elif item.get("role") == "user" or item["type"] == "agent_message":
                # What a helper is told comes under a seal, which the real model would break.
                told = [part.get("text") or part.get("encrypted_content", "") for part in parts(item["content"])]
                conversation += [(False, text) for text in told]
        tools = {}
        for tool in offered:
            if tool["type"] == "namespace":
                tools.update({inner["name"]: {**inner, "namespace": tool["name"]} for inner in tool["tools"]})
            else:
                tools[tool.get("name", tool["type"])] = tool
        return conversation, tools

    @staticmethod
    def said(step, tools, _body, unique):
        ids = {"id": "item_%s" % unique, "call_id": "call_%s" % unique}
        if "tool" not in step:
            text = {"type": "output_text", "text": step["text"]}
            item = {"type": "message", "id": ids["id"], "role": "assistant", "content": [text]}
        else:
            args, known = step.get("args", {}), tools[step["tool"]]
            called = {"name": step["tool"], **{key: known[key] for key in ["namespace"] if key in known}}
            if isinstance(args, str):
                item = {"type": "custom_tool_call", **ids, **called, "input": args}
            else:
                item = {"type": "function_call", **ids, **called, "arguments": json.dumps(args)}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage.update(input_tokens_details=None, output_tokens_details=None)
        begun = {"id": "resp_%s" % unique, "object": "response", "status": "in_progress", "output": []}
        response = {**begun, "status": "completed", "output": [item], "usage": usage}
        return response, [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]


class Chat:
    """OpenAI's chat completions."""

    @staticmethod
    def asked(body):
        conversation = [
            (message["role"] == "tool", part.get("text", ""))
            for message in body["messages"]
            if message["role"] in ("tool", "user")
            # A result may have no part, and counts all the same.
            for part in parts(message["content"])[:1 if message["role"] == "tool" else None] or [{}]
        ]
        return conversation, {tool[tool["type"]]["name"]: tool for tool in body.get("tools") or []}

    @staticmethod
    def said(step, _tools, body, unique):
        message, end = {"role": "assistant", "content": step.get("text")}, "stop"
        if "tool" in step:
            function = {"name": step["tool"], "arguments": json.dumps(step.get("args", {}))}
            call = {"index": 0, "id": "call_%s" % unique, "type": "function", "function": function}
            message, end = {**message, "tool_calls": [call]}, "tool_calls"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base = {"id": "chat_%s" % unique, "created": 0, "model": body.get("model")}
        piece = {**base, "object": "chat.completion.chunk"}
        whole = {"index": 0, "message": message, "finish_reason": end}
        return {**base, "object": "chat.completion", "choices": [whole], "usage": usage}, [
            {**piece, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": end}], "usage": usage},
        ]


class Gemini:
    """Gemini's generateContent."""

    @staticmethod
    def asked(body):
        conversation = [
            ("functionResponse" in part, part.get("text") or json.dumps(part.get("functionResponse")))
            for content in body["contents"]
            if content.get("role") == "user"
            for part in content["parts"]
        ]
        declared = (tool.get("functionDeclarations", []) for tool in body.get("tools") or [])
        return conversation, {tool["name"]: tool for tools in declared for tool in tools}

    @staticmethod
    def said(step, tools, _body, _unique):
        part = {"text": step.get("text")}
        if "tool" in step:
            part = {"functionCall": {"name": step["tool"], "args": step.get("args", {})}}
        elif not tools:
            # What is asked for without tools is an object.
            part = {"text": "{}"}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        whole = {"candidates": [candidate], "usageMetadata": usage}
        return whole, [whole]


INTERFACES = {
    "/messages": Messages,
    "/responses": Responses,
    "/chat/completions": Chat,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}
