"""An agent that speaks ACP: each line of a prompt is something that it does.

    say TEXT · run COMMAND · write FILE · used IN OUT · cost TOTAL · retry TEXT · refuse CODE JSON · stop REASON
    fail TEXT (as Codex does, which calls that the end of a turn) · hang · deaf (does not hear a cancel) · die

Its argument is a directory: `given.jsonl` there gets what it is asked, and sessions are remembered there.
"""

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any


class Agent:
    def __init__(self, notes: Path) -> None:
        self.notes = notes
        self.lock = threading.Lock()
        self.places: dict[str, str] = {}
        self.cancelled: dict[str, threading.Event] = {}
        self.asked = 0
        self.answers: dict[int, tuple[threading.Event, dict[str, Any]]] = {}

    def send(self, message: dict[str, Any]) -> None:
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def update(self, session: str, kind: str, **fields: Any) -> None:
        update = {"sessionUpdate": kind, **fields}
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def hear(self, message: dict[str, Any]) -> None:
        id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if method is None:
            done, answer = self.answers[message["id"]]
            answer |= message.get("result") or {}
            done.set()
            return
        with self.lock, (self.notes / "given.jsonl").open("a") as notes:
            notes.write(json.dumps({"pid": os.getpid(), "method": method, "params": params}) + "\n")
        match method:
            case "initialize":
                can = {"loadSession": True, "sessionCapabilities": {"close": {}}}
                self.send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": can}})
            case "session/new":
                session = str(uuid.uuid4())
                (self.notes / session).write_text(params["cwd"])
                self.places[session] = params["cwd"]
                self.send({"id": id, "result": {"sessionId": session}})
            case "session/load":
                session = params["sessionId"]
                if not (self.notes / session).exists():
                    self.send({"id": id, "error": {"code": -32603, "message": "No previous sessions found"}})
                    return
                self.places[session] = params["cwd"]
                self.update(session, "agent_message_chunk", content={"type": "text", "text": "what I said before"})
                self.send({"id": id, "result": None})
            case "session/prompt":
                threading.Thread(target=self.take_turn, args=(id, params), daemon=True).start()
            case "session/cancel":
                self.cancelled[params["sessionId"]].set()
            case _:
                self.send({"id": id, "result": {}})

    def take_turn(self, id: int, params: dict[str, Any]) -> None:
        session = params["sessionId"]
        cancelled = self.cancelled[session] = threading.Event()
        answer: dict[str, Any] = {"result": {"stopReason": "end_turn"}}
        for number, line in enumerate("".join(block["text"] for block in params["prompt"]).splitlines()):
            word, _, rest = line.strip().partition(" ")
            ended = self.do(session, f"call-{number}", word, rest, answer, cancelled)
            if ended or cancelled.is_set():
                break
        if cancelled.is_set():
            answer = {"result": {"stopReason": "cancelled"}}
        self.send({"id": id, **answer})

    def do(
        self, session: str, call: str, word: str, rest: str, answer: dict[str, Any], cancelled: threading.Event
    ) -> bool:
        """One line of a prompt; whether the turn ends there."""
        match word:
            case "say":
                self.update(session, "agent_message_chunk", content={"type": "text", "text": rest})
            case "run":
                self.tool(session, call, "execute", rest, cancelled)
            case "write":
                self.tool(session, call, "edit", rest, cancelled)
            case "used":
                tokens_in, tokens_out = map(int, rest.split())
                answer["result"]["usage"] = {"inputTokens": tokens_in, "outputTokens": tokens_out}
            case "cost":
                self.update(session, "usage_update", used=1, size=2, cost={"amount": float(rest), "currency": "USD"})
            case "retry":
                meta = {"codex": {"error": {"willRetry": True, "message": rest}}}
                self.update(session, "session_info_update", _meta=meta)
            case "fail":
                self.update(session, "agent_message_chunk", content={"type": "text", "text": rest})
                meta = {"codex": {"threadStatus": {"type": "systemError"}}}
                self.update(session, "session_info_update", _meta=meta)
            case "refuse":
                code, _, data = rest.partition(" ")
                answer.clear()
                answer["error"] = {"code": int(code), "message": "Internal error", "data": json.loads(data)}
                return True
            case "stop":
                answer["result"]["stopReason"] = rest
                return True
            case "hang":
                cancelled.wait()
            case "deaf":
                time.sleep(1000)
            case "die":
                print("out of luck", file=sys.stderr, flush=True)
                os._exit(3)
        return False

    def tool(self, session: str, call: str, kind: str, what: str, cancelled: threading.Event) -> None:
        place = Path(self.places[session])
        tool = {"toolCallId": call, "status": "pending", "title": f"{kind} {what}", "kind": kind, "locations": []}
        if kind == "edit":
            tool["locations"] = [{"path": str(place / what)}]
        else:
            tool["rawInput"] = {"command": what}
        allowed = self.ask(session, tool)
        if allowed and kind == "edit":
            (place / what).write_text("written")
        elif allowed:
            process = subprocess.Popen(["sh", "-c", what], cwd=place, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            while process.poll() is None:
                if cancelled.wait(0.02):
                    process.kill()
        self.update(session, "tool_call_update", toolCallId=call, status="completed" if allowed else "failed")

    def ask(self, session: str, tool: dict[str, Any]) -> bool:
        with self.lock:
            self.asked += 1
            id = self.asked
        done, answer = self.answers[id] = threading.Event(), {}
        options = [
            {"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_always", "allow_once", "reject_once")
        ]
        params = {"sessionId": session, "options": options, "toolCall": tool}
        self.send({"id": id, "method": "session/request_permission", "params": params})
        done.wait()
        return bool(answer["outcome"].get("optionId") == "allow_once")


def main() -> None:
    agent = Agent(Path(sys.argv[1]))
    print("a banner", flush=True)
    for line in sys.stdin:
        agent.hear(json.loads(line))


if __name__ == "__main__":
    main()
