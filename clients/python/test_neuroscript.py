"""The client against a real host: `python3 -m unittest` in this folder, with NEUROSCRIPT naming the command."""

import json
import os
import tempfile
import threading
import time
import unittest
from datetime import UTC, datetime
from typing import Literal

from neuroscript import CALL, AgentRequest, Host, HostError, ProgramError, ToolError

COMMAND = json.loads(os.environ.get("NEUROSCRIPT", '["npx", "neuroscript"]'))


def program(*lines: str) -> str:
    return "\n".join(["command", *(f"  {line}" for line in lines), "endcommand"])


def envelope(actions: str) -> str:
    parts = {"USERDATA": '{"subject": "s", "fields": {}}', "ACTIONS": actions}
    return "\n".join(
        ["<<<NSENV:V3:START>>>", *(f"<<<NSENV:V3:{name}>>>\n{text}" for name, text in parts.items()), "<<<NSENV:V3:END>>>"]
    )


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
            self.assertRaisesRegex(HostError, "gone", host.run, program("emit 1"))

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
        for absent in (Host(["no such command"]), Host(socket="/no/such.sock")):
            self.assertRaisesRegex(HostError, "cannot reach a host", absent.run, program("emit 1"))


if __name__ == "__main__":
    unittest.main()
