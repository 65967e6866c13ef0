"""Runs NeuroScript programs from Python 3.11 or later: a client of `neuroscript host`, whose protocol docs/embedding.md describes.

    from neuroscript import Host
    host = Host()
    @host.tool("tool.shop.Price", effects="read")
    def price(item: str) -> float:
        return {"tea": 2.5}[item]
    with host:
        print(host.run('command\\n  emit 2 * tool.shop.Price("tea")\\nendcommand').emits)
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import inspect
import json
import math
import os
import shutil
import socket as sockets
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Literal, Self, Union, get_args, get_origin, get_type_hints

__all__ = ["CALL", "AgentRequest", "Host", "HostError", "ProgramError", "Result", "Run", "ToolError"]


class HostError(Exception):
    """The host refused a request, or is gone. `code` is the stable code of the product, such as ERR_USAGE."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class ToolError(Exception):
    """A tool raises it to fail with this code, which `on error` sees. `retry_after_ms`: nothing happened, so the call is made again."""

    def __init__(self, message: str, code: int = 21, hint: str | None = None, retry_after_ms: float | None = None) -> None:
        super().__init__(message)
        self.code, self.hint, self.retry_after_ms = code, hint, retry_after_ms
        self._data = {"nsCode": code, "hint": hint, "retryAfterMs": retry_after_ms}


@dataclass(frozen=True)
class Result:
    """How a run ended. `raw` is the result of `neuroscript run --json`."""

    emits: list[str]
    values: list[Any]
    result: Any
    whispers: list[dict[str, str]]
    usage: dict[str, float]
    warnings: list[str]  # What to know of a run that is ok: that nothing was run.
    raw: dict[str, Any] = field(repr=False)


class ProgramError(Exception):
    """A program failed. The text of the exception has the place, the line with a caret and the hint."""

    def __init__(self, result: Result) -> None:
        error: dict[str, Any] = {"source": None, "line": None, "column": None, "hint": None, **result.raw["error"]}
        self.result, self.code, self.message, self.hint = result, error["code"], error["message"], error["hint"]
        self.source, self.line, self.column = error["source"], error["line"], error["column"]
        super().__init__(error["text"])


@dataclass(frozen=True)
class AgentRequest:
    """The request for the program of one turn; an agent answers with text that has one envelope in it."""

    sid: str
    turn: int
    attempt: int
    system: str
    prompt: str
    max_tokens: int | None


PATIENCE = 30.0  # Seconds until a host must have answered its first request.
# In a tool: its call, with "session", and "key", which is the same when a call of a session is made again.
CALL: ContextVar[Mapping[str, Any]] = ContextVar("CALL")
Agent = Callable[[AgentRequest], "str | Mapping[str, Any]"]
OnOutput = Callable[[dict[str, Any]], None]


class Run:
    """A program that runs."""

    def __init__(self, host: Host, request: int, answer: Future[Any]) -> None:
        self._host, self._id, self._answer = host, request, answer

    def cancel(self) -> None:
        """Ends the program; `result` then raises ProgramError with the code ERR_CANCELLED."""
        self._host._ask("cancel", {"id": self._id})

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the end. Raises ProgramError for a program that failed, TimeoutError after `timeout` seconds."""
        raw = self._answer.result(timeout)
        told = {name: raw.get(name, []) for name in ("emits", "whispers", "usage", "warnings")}
        result = Result(**told, values=[_decode(value) for value in raw["values"]], result=_decode(raw["result"]), raw=raw)
        if not raw["ok"]:
            raise ProgramError(result)
        return result


class Host:
    """A `neuroscript host`. It starts with the first use, or with `with`; tools are declared before. It starts only once."""

    def __init__(self, command: Sequence[str] | None = None, *, socket: str | None = None, policy: Mapping[str, Any] | None = None,
                 limits: Mapping[str, int] | None = None, threads: int = 16) -> None:  # fmt: skip
        """`command` starts the host, by default `neuroscript host` of the project around the working folder or of the search path;
        `socket` connects to one that runs. At most `threads` calls of tools and agents run at once."""
        self._command, self._path = command, socket
        self._settings = {name: dict(value) for name, value in (("policy", policy), ("limits", limits)) if value is not None}
        self._tools: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {}
        self._lock, self._writing, self._starting = threading.Lock(), threading.Lock(), threading.RLock()
        self._open: dict[int, tuple[Future[Any], OnOutput | None, Any]] = {}  # The last is the agent.
        self._cancelled: set[str] = set()
        self._requests, self._started = 0, False
        self._gone: HostError | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._threads = ThreadPoolExecutor(threads, "neuroscript")

    def tool(self, name: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a function as a tool. Its annotations become the schema of the arguments, its doc text the description.

        `declared`: effects ("none", "read" or "write"), idempotent, requiresApproval, capabilities, timeoutMs, description,
        inputSchema, outputSchema. The function may be a coroutine function, and may raise ToolError."""

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            if self._started:
                raise HostError("declare tools before the host starts", "ERR_USAGE")
            inferred = {"description": inspect.getdoc(function) or "", "inputSchema": _schema_of(function)}
            self._tools[name] = ({"name": name, **inferred, **declared}, function)
            return function

        return declare

    def run(self, src: str, *, on_output: OnOutput | None = None, **options: Any) -> Result:
        """Runs a program to its end. `options`: lib, call, args, globals, events, limits, policy, session. Raises ProgramError."""
        return self.start(src, on_output=on_output, **options).result()

    def start(self, src: str, *, on_output: OnOutput | None = None, **options: Any) -> Run:
        """As `run`, but returns at once. `on_output` gets {"kind", "text", ...} as it comes, and must not call the host."""
        return Run(self, *self._send("run", _program(src, options), output=on_output))

    def check(self, src: str, **options: Any) -> list[dict[str, Any]]:
        """The mistakes of a program that is not run, as `neuroscript check --json` lists them."""
        return self._ask("check", {"src": src, **options})["findings"]

    def foresee(self, src: str, **options: Any) -> dict[str, Any]:
        """What a program can do at most: every call that it can make, and what it can use. `options` as of `run`."""
        return self._ask("foresee", _program(src, options))

    def turn(self, envelope: str, **options: Any) -> dict[str, Any]:
        """Executes one AEIOU v3 envelope, as `neuroscript turn --json`. `options`: sid, turn, nonce, limits."""
        return self._ask("turn", {"envelope": envelope, **options})

    def session(self, agent: Agent, userdata: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Runs a session with an agent to its end, as `neuroscript loop --json`: "decision" is DONE, ABORT or HALT, or the session
        waits. `options`: sid, maxTurns, maxTokens, maxReasks, wallMs, limits, repair."""
        _encode(userdata, "userdata")  # Refuses what JSON would change.
        return self._send("session.run", {"userdata": dict(userdata), **options}, agent=agent)[1].result()

    def resume(self, agent: Agent, sid: str, **options: Any) -> dict[str, Any]:
        """Continues a session that is open, or that waited for a call which is complete now."""
        return self._send("session.resume", {"sid": sid, **options}, agent=agent)[1].result()

    def complete(self, sid: str, call: str, *, result: Any = None, error: str | None = None) -> dict[str, Any]:
        """Answers a call for which a session waits, by a result or by the message of an error."""
        answer = {"result": _encode(result, "result")} if error is None else {"error": {"message": error}}
        return self._ask("session.complete", {"sid": sid, "call": call, "answer": answer})

    def cancel_session(self, sid: str) -> bool:
        """Ends an open session; False when there is none."""
        return self._ask("session.cancel", {"sid": sid})

    def end_session(self, session: str) -> None:
        """Removes what tools keep for the runs of `run(session=…)`."""
        self._ask("session.end", {"session": session})

    def close(self) -> None:
        """Ends the host and everything that it runs."""
        if self._started:
            self._hang_up()
        self._threads.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        with self._starting:
            if self._started:
                return
            try:
                if self._path is not None:
                    self._socket = sockets.socket(sockets.AF_UNIX)
                    self._socket.connect(self._path)
                    self._writer: IO[bytes] = self._socket.makefile("wb")
                    lines: IO[bytes] = self._socket.makefile("rb")
                else:
                    folders = [str(each / "node_modules" / ".bin") for each in (Path.cwd(), *Path.cwd().parents)]
                    found = shutil.which("neuroscript", path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))
                    command = self._command or [found or "neuroscript", "host"]
                    self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                    assert self._process.stdin and self._process.stdout
                    self._writer, lines = self._process.stdin, self._process.stdout
            except OSError as problem:
                if self._path is not None:
                    self._socket.close()
                raise HostError(f"cannot reach a host ({problem}); npm install neuroscript-runtime", "ERR_CONFIG") from problem
            self._reader = threading.Thread(target=self._read, args=(lines,), name="neuroscript", daemon=True)
            self._started, self._gone = True, None
            self._reader.start()
            try:
                self._ask("initialize", {"protocol": 1, "tools": [each for each, _ in self._tools.values()], **self._settings}, PATIENCE)
            except BaseException as problem:  # The next use starts another one.
                gone, self._started = self._gone, False
                if (silent := isinstance(problem, TimeoutError)) and self._process is not None:
                    self._process.kill()
                code = self._hang_up()
                if silent or (gone is not None and code is not None):
                    why = f"did not answer in {PATIENCE} seconds" if silent else f"ended with exit code {code} before it was ready"
                    raise HostError(f"the host {why}", "ERR_CONFIG") from problem
                raise

    def _hang_up(self) -> int | None:
        with contextlib.suppress(OSError):
            if self._process is None:
                self._socket.shutdown(sockets.SHUT_RDWR)
                self._socket.close()
            self._writer.close()
        self._reader.join(30)
        return None if self._process is None else self._process.wait(30)

    def _ask(self, method: str, params: dict[str, Any], timeout: float | None = None) -> Any:
        return self._send(method, params)[1].result(timeout)

    def _send(
        self, method: str, params: dict[str, Any], *, output: OnOutput | None = None, agent: Agent | None = None
    ) -> tuple[int, Future[Any]]:
        self._begin()
        answer: Future[Any] = Future()
        with self._lock:
            if self._gone is not None:
                raise HostError(str(self._gone), self._gone.code)
            request = self._requests = self._requests + 1
            line = _line(id=request, method=method, params=params)
            self._open[request] = answer, output, agent
        self._write(line)
        return request, answer

    def _write(self, line: bytes) -> None:
        # The reader learns that the host is gone, and says so to every request.
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._writer.write(line)
            self._writer.flush()

    def _read(self, lines: IO[bytes]) -> None:
        with contextlib.suppress(Exception), lines:  # Also what is no message of a host.
            for line in lines:
                self._take(json.loads(line))
        self._fail(HostError("the host is gone, and what it ran; make another Host", "ERR_CANCELLED"), gone=True)

    def _fail(self, error: HostError, *, gone: bool) -> None:
        with self._lock:
            self._gone = self._gone or (error if gone else None)
            error, waiting, self._open = self._gone or error, self._open, {}
        for answer, _, _ in waiting.values():
            answer.set_exception(error)

    def _take(self, message: dict[str, Any]) -> None:
        params = message.get("params") or {}
        match message.get("method"):
            case None:
                answer, _, _ = self._open.pop(message["id"], (Future(), None, None))
                if (said := message.get("error")) is None:
                    return answer.set_result(message["result"])
                answer.set_exception(failure := HostError(said["message"], (said.get("data") or {}).get("code", "ERR_INTERNAL")))
                if message["id"] is None:  # The host refused a line, and cannot say whose, or has no place for one more client.
                    self._fail(failure, gone=failure.code == "ERR_BUSY")
            case "output" if (asked := self._open.get(params["id"])) is not None and asked[1] is not None:
                try:
                    asked[1]({**params, "value": _decode(params.get("value"))})
                except BaseException as error:  # The run goes on, and its caller learns of the failure.
                    self._open.pop(params["id"])
                    asked[0].set_exception(error)
            case "cancel":
                self._cancelled.add(params["id"])
            case "tool.call" | "agent.reply" as method:
                self._threads.submit(self._serve, message["id"], method, params)

    def _serve(self, request: str, method: str, params: dict[str, Any]) -> None:
        try:
            if request in self._cancelled:  # Before a thread was free.
                raise ToolError("the call was cancelled")
            if method == "tool.call":
                CALL.set(params)
                made = self._tools[params["name"]][1](**{name: _decode(value) for name, value in params["args"].items()})
            else:
                asked = AgentRequest(*(params[key] for key in ("sid", "turn", "attempt", "system", "prompt", "maxTokens")))
                made = self._open[params["id"]][2](asked)
            line = _line(id=request, result=_encode(asyncio.run(made) if inspect.iscoroutine(made) else made, "result"))
        except BaseException as error:  # Whatever a tool raises is an error of its call: a call is always answered.
            line = _failure(request, error)
        self._cancelled.discard(request)
        self._write(line)


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object", type(None): "null"}


def _schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise HostError(f"argument '{name}' of a tool must have a name of its own", "ERR_USAGE")
        given = {} if parameter.default is parameter.empty else {"default": parameter.default}
        properties[name] = _schema(get_type_hints(function).get(name, Any)) | given
    return {"type": "object", "properties": properties, "required": [name for name in properties if "default" not in properties[name]]}


def _schema(hint: Any) -> dict[str, Any]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (list, dict):
        return {"type": _TYPES[origin], "items" if origin is list else "additionalProperties": _schema(args[-1])}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, type(int | str)):
        return {"anyOf": [_schema(each) for each in args]}
    return {"type": _TYPES[hint]} if hint in _TYPES else {}


def _line(*, errors: str = "strict", **message: Any) -> bytes:
    line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, allow_nan=False).encode(errors=errors) + b"\n"
    if len(line) > 16 * 1024 * 1024 + 1:
        raise HostError("the message has more than 16777216 bytes", "ERR_USAGE")
    return line


def _failure(request: str, error: BaseException) -> bytes:
    told: dict[str, Any] = {"code": -32000, "message": type(error).__name__}
    with contextlib.suppress(Exception):  # The text of an exception can fail too.
        own = {"message": str(error), "data": error._data} if isinstance(error, ToolError) else {}
        return _line(id=request, error=told | (own or {"message": f"{type(error).__name__}: {error}"}), errors="replace")
    return _line(id=request, error=told)


def _program(src: str, options: dict[str, Any]) -> dict[str, Any]:
    coded: dict[str, Any] = {name: _encode(options[name], name) for name in ("args", "globals", "events") if name in options}
    return {"src": src, **options, **coded}


def _encode(value: Any, place: str) -> Any:
    """A value as tagged JSON, which has what JSON lacks. Raises TypeError or ValueError, with the place, for what has no form."""
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        return {"$num": "NaN" if math.isnan(value) else "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, int) and abs(value) >= 2**53:
        raise ValueError(f"at {place}: a program holds integers from -(2**53 - 1) to 2**53 - 1; give a float or a str")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, datetime):
        return {"$time": value.astimezone().isoformat()}
    if isinstance(value, Mapping):
        if wrong := [key for key in value if not isinstance(key, str)]:
            raise TypeError(f"at {place}: the keys of a map are str, and {wrong[0]!r} is a {type(wrong[0]).__name__}")
        return {f"${key}" if key.startswith("$") else key: _encode(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [_encode(item, f"{place}[{index}]") for index, item in enumerate(value)]
    raise TypeError(f"at {place}: a program cannot hold a {type(value).__name__}")


def _decode(value: Any) -> Any:
    """Tagged JSON as a Python value; errors, handles and fuzzy values stay maps with their tag."""
    if not isinstance(value, dict):
        return [_decode(item) for item in value] if isinstance(value, list) else value
    match value:
        case {"$num": number, **rest} if not rest:
            return float(number)
        case {"$bytes": text, **rest} if not rest:
            return base64.b64decode(text)
        case {"$time": text, **rest} if not rest:
            return datetime.fromisoformat(text)
    return {key[1:] if key.startswith("$$") else key: _decode(item) for key, item in value.items()}
