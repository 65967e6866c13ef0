"""The client against a real host: `python3 -m unittest` in this folder, with NEUROSCRIPT naming the command."""

import json
import os
import tempfile
import threading
import time
import unittest
from datetime import UTC, datetime
from typing import Literal
from unittest import mock

from neuroscript import CALL, AgentRequest, Host, HostError, ProgramError, ToolError

COMMAND = json.loads(os.environ.get("NEUROSCRIPT", '["npx", "neuroscript"]'))


def program(*lines: str) -> str:
    return "\n".join(["command", *(f"  {line}" for line in lines), "endcommand"])


def envelope(actions: str) -> str:
    parts = {"USERDATA": '{"subject": "s", "fields": {}}', "ACTIONS": actions}
    return "\n".join(
        ["<<<NSENV:V3:START>>>", *(f"<<<NSENV:V3:{name}>>>\n{text}" for name, text in parts.items()), "<<<NSENV:V3:END>>>"]
    )


def run_soon(host: Host) -> None:
    """Runs a program in a thread of its own, which may hang."""
    ends: list[BaseException] = []

    def run() -> None:
        try:
            host.run(program("emit 1"))
        except HostError as error:
            ends.append(error)

    (thread := threading.Thread(target=run, daemon=True)).start()
    thread.join(10)
    raise ends[0] if ends else AssertionError("it hangs")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Client(unittest.TestCase):
    host: Host
    made: list[object]

    @classmethod
    def setUpClass(cls) -> None:
        cls.host, cls.made = Host([*COMMAND, "host", "--fuel", "1e12"]), []

        @cls.host.tool("tool.shop.Price", effects="read")
        def price(item: str, currency: Literal["EUR", "USD"] = "EUR") -> float:
            """The price of an item."""
            cls.made.append((item, currency))
            if item == "ink" and cls.made.count((item, currency)) == 1:
                raise ToolError("the shop is away", retry_after_ms=1)
            if item == "gold":
                raise ToolError("there is no gold", 9, "sell tea")
            return {"tea": 2.5}[item]

        @cls.host.tool("tool.shop.Slow", effects="read")
        async def slow(ms: int) -> int:
            time.sleep(ms / 1000)
            return ms

        @cls.host.tool("tool.shop.Echo", effects="none")
        def echo(value: object) -> object:
            return value

        @cls.host.tool("tool.shop.Odd", effects="none")
        def odd(kind: str) -> object:
            made = {"surrogate": "\ud800", "large": {"n": [2**53]}, "key": {1: 2, "1": 3}, "long": "x" * 2**24, "set": {object()}}
            if kind in made:
                return made[kind]
            raise {
                "exit": SystemExit(3),
                "interrupt": KeyboardInterrupt(),
                "said": ToolError("a \ud800", 9, "b \ud800"),
                "code": ToolError("mine", 99999),
                "nonsense": ToolError("mine", hint=object()),  # type: ignore[arg-type]
                "mute": Mute(),
            }[kind]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.host.close()

    def test_a_program_calls_tools_and_its_output_comes_as_it_is_made(self) -> None:
        seen: list[str] = []
        result = self.host.run(
            program('emit tool.shop.Price("tea")', 'emit {"a": [1, nil]}', 'whisper self, "note"'),
            on_output=lambda out: seen.append(f"{out['kind']} {out['text']}"),
        )
        self.assertEqual(result.values, [2.5, {"a": [1, None]}])
        self.assertEqual(seen, ["emit 2.5", 'emit {"a": [1, nil]}', "whisper note"])
        self.assertEqual(self.made[-1], ("tea", "EUR"))
        self.assertGreater(result.usage["fuel"], 0)

    def test_values_keep_what_json_lacks(self) -> None:
        given = {"f": float("inf"), "z": -0.0, "b": b"\x00\xff", "t": datetime(2026, 1, 2, tzinfo=UTC), "$k": 1, "n": None}
        result = self.host.run(program("emit tool.shop.Echo(given)"), globals={"given": given})
        self.assertEqual(result.values, [given])
        self.assertEqual(str(result.values[0]["z"]), "-0.0")

    def test_a_failed_program_is_an_exception_with_place_and_hint(self) -> None:
        with self.assertRaises(ProgramError) as caught:
            self.host.run(program('emit "before"', 'emit tool.shop.Price("gold")'))
        error = caught.exception
        self.assertEqual((error.code, error.message, error.hint), ("NS9", "there is no gold", "sell tea"))
        self.assertEqual((error.source, error.line, error.result.emits), ("src", 3, ["before"]))
        self.assertIn("there is no gold", str(error))
        with self.assertRaises(ProgramError) as caught:
            self.host.run(program("let x = 1"))
        self.assertEqual((caught.exception.code, caught.exception.line), ("NS15", 2))

    def test_a_tool_that_raises_fails_its_call(self) -> None:
        code = program("on error do", "  emit system_error_message", "  clear_error", "endon", 'emit tool.shop.Price("ink")')
        self.assertRaisesRegex(ProgramError, "KeyError", self.host.run, program('emit tool.shop.Price("ink")'))
        self.assertIn("KeyError", self.host.run(code).emits[0])
        self.assertEqual(self.made.count(("ink", "EUR")), 3)

    def test_a_call_is_always_answered(self) -> None:
        for kind, code, words in [
            ("surrogate", "NS21", "surrogates not allowed"),
            ("large", "NS21", r"at result\['n'\]\[0\]: a program holds integers"),
            ("key", "NS21", "at result: the keys of a map are str, and 1 is a int"),
            ("long", "NS21", "has more than 16777216 bytes"),
            ("set", "NS21", r"at result\[0\]: a program cannot hold a object"),
            ("exit", "NS21", "SystemExit: 3"),
            ("interrupt", "NS21", "KeyboardInterrupt"),
            ("said", "NS9", r"a \?[\s\S]*hint: b \?"),
            ("code", "NS21", "mine .the client gave the code 99999"),
            ("nonsense", "NS21", "ToolError"),
            ("mute", "NS21", "Mute"),
        ]:
            with self.subTest(kind), self.assertRaisesRegex(ProgramError, words) as caught:
                self.host.start(program(f'emit tool.shop.Odd("{kind}")')).result(10)
            self.assertEqual(caught.exception.code, code)

    def test_what_a_program_would_get_changed_is_refused_with_its_place(self) -> None:
        def refused(words: str, error: type[Exception], value: object) -> None:
            self.assertRaisesRegex(error, words, self.host.run, program("emit 1"), globals={"given": value})
            self.assertRaisesRegex(error, "at userdata", self.host.session, str, {"subject": "s", "fields": {"given": value}})

        refused(r"at globals\['given'\]\[1\]: a program holds integers", ValueError, [0, 2**53])
        refused(r"at globals\['given'\]\['a'\]: a program holds integers", ValueError, {"a": -(2**53)})
        refused(r"at globals\['given'\]: the keys of a map are str, and 1 is a int", TypeError, {1: 2, "1": 3})
        kept = [2**53 - 1, 1 - 2**53, True, 1e300]
        self.assertEqual(self.host.run(program("emit given"), globals={"given": kept}).values, [kept])
        self.assertRaises(UnicodeEncodeError, self.host.run, program('emit "\ud800"'))
        self.assertEqual(self.host._open, {})

    def test_a_program_that_runs_nothing_warns(self) -> None:
        self.assertRegex(" ".join(self.host.run("func f() means\n  return 1\nendfunc\n").warnings), "nothing was run")
        self.assertEqual(self.host.run(program("emit 1")).warnings, [])

    def test_arguments_are_checked_before_the_tool_is_called(self) -> None:
        before = len(self.made)
        self.assertRaises(ProgramError, self.host.run, program('emit tool.shop.Price("tea", "GBP")'))
        self.assertEqual(len(self.made), before)

    def test_many_runs_at_once_and_a_cancelled_one(self) -> None:
        runs = [self.host.start(program(f"emit tool.shop.Slow({ms})")) for ms in (60, 30, 10)]
        self.assertEqual([run.result(30).values for run in runs], [[60], [30], [10]])
        endless = self.host.start(program("while true", "  set x = 1", "endwhile"))
        endless.cancel()
        with self.assertRaises(ProgramError) as caught:
            endless.result(30)
        self.assertEqual(caught.exception.code, "ERR_CANCELLED")

    def test_policy_limits_and_wrong_parameters(self) -> None:
        with self.assertRaises(ProgramError) as caught:
            self.host.run(program('emit tool.shop.Price("tea")'), policy={"deny": ["tool.shop.*"], "allow": ["*"]})
        self.assertEqual(caught.exception.code, "NS1003", caught.exception)
        with self.assertRaises(ProgramError) as caught:
            self.host.run(program("while true", "  set x = 1", "endwhile"), limits={"fuel": 1000})
        self.assertEqual(caught.exception.code, "ERR_QUOTA")
        self.assertRaisesRegex(HostError, "unknown key", self.host.run, program("emit 1"), nonsense=1)
        self.assertRaisesRegex(HostError, "has more than 16777216 bytes", self.host.run, "# " * 9_000_000)
        self.assertEqual(self.host.run(program("emit 1")).emits, ["1"])

    def test_check_and_foresee(self) -> None:
        findings = self.host.check(program("let x = 1"))
        self.assertEqual((findings[0]["line"], findings[0]["fix"]["edits"][0]["text"]), (2, "set x = 1"))
        calls = self.host.foresee(program('call tool.shop.Price("tea")'))["calls"]
        self.assertEqual([(call["name"], call["most"]) for call in calls], [("tool.shop.price", 1)])

    def test_a_session_with_an_agent_is_corrected_and_ends(self) -> None:
        asked: list[AgentRequest] = []

        def agent(request: AgentRequest) -> str:
            asked.append(request)
            price = "let" if len(asked) == 1 else "set"
            return envelope(
                program(f'{price} p = tool.shop.Price("tea")', "emit p", 'emit tool.aeiou.magic("LOOP", {"action": "done"})')
            )

        result = self.host.session(agent, {"subject": "buy", "fields": {}})
        self.assertEqual((result["decision"], len(asked), asked[1].attempt), ("DONE", 2, 2))
        self.assertIn("set p = tool.shop.Price", asked[1].prompt + asked[1].system)

    def test_an_agent_that_raises_ends_the_session(self) -> None:
        def agent(_: AgentRequest) -> str:
            raise RuntimeError("401 Unauthorized")

        result = self.host.session(agent, {"subject": "x", "fields": {}})
        self.assertEqual((result["decision"], result["reason"]), ("HALT", "ERR_AGENT"))

    def test_a_turn_has_a_decision(self) -> None:
        done = program("emit 1", 'emit tool.aeiou.magic("LOOP", {"action": "done"})')
        self.assertEqual(self.host.turn(envelope(done))["decision"], "DONE")

    def test_a_session_that_waits_is_completed_and_resumed_refused_or_cancelled(self) -> None:
        done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})'

        def agent(_: AgentRequest) -> str:
            return envelope(program('emit tool.shop.Buy("tea")', done))

        order = [{"tool": "tool.shop.Buy", "needs": "tool.boss.Approve", "else": "ask"}]
        host, bought = Host([*COMMAND, "host"], policy={"allow": ["*"], "order": order}), []

        @host.tool("tool.shop.Buy")
        def buy(item: str) -> str:
            bought.append((item, CALL.get()["key"]))
            return f"bought {item}"

        def wait() -> tuple[str, str]:
            waits = host.session(agent, {"subject": "buy", "fields": {}})
            self.assertEqual((waits["decision"], waits["waiting"]["tool"]), ("SUSPENDED", "tool.shop.buy"))
            return waits["sid"], waits["waiting"]["call"]

        with host:
            sid, call = wait()
            self.assertEqual(host.complete(sid, call, result=True)["completed"], True)
            self.assertEqual(host.resume(agent, sid)["decision"], "DONE")
            self.assertEqual([(item, key is None) for item, key in bought], [("tea", False)])
            sid, call = wait()
            host.complete(sid, call, error="too dear")
            self.assertNotEqual(host.resume(agent, sid)["decision"], "DONE")
            sid, _ = wait()
            self.assertEqual([host.cancel_session(sid), len(bought)], [True, 1])

    def test_foresee_takes_values_and_events_as_run_does(self) -> None:
        code = "func main(needs when) means\n  emit when\nendfunc\non event \"go\" as e do\n  emit e.payload[0].Payload\nendon\n"
        when = datetime(2026, 1, 2, tzinfo=UTC)
        options = {"call": "main", "args": [when], "events": [{"name": "go", "payload": {"$at": when}}]}
        self.assertEqual(self.host.run(code, **options).values, [when, {"$at": when}])
        self.assertEqual(self.host.foresee(code, **options)["calls"], [])

    def test_the_policy_of_a_client_holds_and_sessions_of_runs_end(self) -> None:
        with Host([*COMMAND, "host"], policy={"allow": ["tool.scratch.*"]}, limits={"fuel": 5000}) as host:
            with self.assertRaises(ProgramError) as caught:
                host.run(program("emit tool.time.Now()"))
            self.assertEqual(caught.exception.code, "NS1003")
            self.assertEqual(host.run(program("emit 1"), session="s").emits, ["1"])
            host.end_session("s")

    def test_a_host_that_dies_fails_what_is_open(self) -> None:
        with Host([*COMMAND, "host", "--fuel", "1e12"]) as host:
            endless = host.start(program("while true", "  set x = 1", "endwhile"))
            assert host._process is not None
            threading.Timer(0.2, host._process.kill).start()
            self.assertRaisesRegex(HostError, "gone", endless.result, 30)
            self.assertRaisesRegex(HostError, "gone, and what it ran; make another Host", host.run, program("emit 1"))

    def test_a_host_that_does_not_start_says_so_and_the_next_use_starts_another(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            once = 'if mkdir "$0" 2>/dev/null; then exit 3; fi; exec "$@"'
            host = Host(["sh", "-c", once, f"{folder}/tried", *COMMAND, "host"])
            self.assertRaisesRegex(HostError, "ended with exit code 3 before it was ready", host.run, program("emit 1"))
            self.assertEqual(host.run(program("emit 1")).emits, ["1"])
            host.close()
            refused = Host([*COMMAND, "host", "--policy", f"{folder}/none.yaml"])
            self.assertRaisesRegex(HostError, "none.yaml", refused.run, program("emit 1"))
            self.assertIsNotNone(refused._process and refused._process.poll())
            refused.close()
        for command in [["false"], ["echo", "7"], ["echo", "no JSON"]] * 10:
            ended = Host(command)
            self.assertRaisesRegex(HostError, "ended with exit code [01] before", run_soon, ended)
            ended.close()
        for command in (["sleep", "100"], ["cat"]):
            silent = Host(command)
            with mock.patch("neuroscript.PATIENCE", 0.3):
                self.assertRaisesRegex(HostError, "did not answer in 0.3 seconds", silent.run, program("emit 1"))
            self.assertEqual(silent._process and silent._process.poll(), -9)
            silent.close()
        for absent in (Host(["no such command"]), Host(socket="/no/such.sock")):
            self.assertRaisesRegex(HostError, "cannot reach a host", absent.run, program("emit 1"))


if __name__ == "__main__":
    unittest.main()
