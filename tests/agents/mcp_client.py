"""The Python client of the MCP project against edio. Its models of the protocol refuse what is not in the specification.

python3 mcp_client.py EDIO auto|legacy REVISION
"""

import asyncio
import sys
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters


async def main(edio, mode, revision):
    told = []

    async def progress(done, total, message):
        told.append(done)

    server = StdioServerParameters(command=edio, args=["mcp"])
    async with Client(server, mode=mode) as client:
        assert client.protocol_version == revision, client.protocol_version
        assert len(client.instructions) < 500
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["snapshot", "log", "show", "diff", "restore", "undo", "status"], tools

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments, progress_callback=progress)
            assert not result.is_error, result
            return result.structured_content

        Path("a").write_text("one\n")
        assert (await call("snapshot", message="one"))["turn"] == 1
        Path("a").write_text("two\n")
        Path("new").write_text("new\n")
        assert (await call("status"))["unsaved_count"] == 2
        assert (await call("snapshot", message="two"))["turn"] == 2
        assert [turn["message"] for turn in (await call("log"))["turns"]] == ["two", "one"]
        assert len((await call("show", turn="2"))["changes"]) == 2
        assert "+two" in (await call("diff", turn="1..2"))["patch"]
        restored = await call("restore", turn="1")
        assert (restored["paths_written"], restored["paths_removed"]) == (["a"], ["new"])
        assert Path("a").read_text() == "one\n" and not Path("new").exists()
        await call("undo")
        assert Path("a").read_text() == "two\n" and Path("new").exists()
        assert told, "no progress was told"

        failed = await client.call_tool("show", {"turn": "99"})
        assert failed.is_error and "hint: " in failed.content[0].text, failed
        try:
            await client.call_tool("edio_log", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("a tool that there is not was called")


asyncio.run(main(*sys.argv[1:]))
