"""Replies to rare forms of commands, compared byte for byte with those of redis-server."""

import contextlib
import unittest

from servers import Process, encode


class Replies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Process("--threads", 2, "--shard-count", 2).__enter__()
        cls.reference = Process(reference=True).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.reference.__exit__()

    def replies(self, server, commands):
        """All that a server sends for these commands, up to a last one whose reply is known."""
        connection = server.connect()
        connection.write(b"".join(encode(*command) for command in [("FLUSHALL",), *commands, ("RESET",)]))
        received = b""
        while not received.endswith(b"+RESET\r\n"):
            data = connection.socket.recv(1 << 16)
            if not data:
                break
            received += data
        with contextlib.suppress(OSError):
            connection.close()
        return received

    def check(self, pipelines, versions=(2, 3)):
        for commands in pipelines:
            for version in versions:
                with self.subTest(commands=commands, version=version):
                    # The reply of HELLO has a number of the client.
                    hello = [("HELLO", 3), ("ECHO", "begin")] if version == 3 else [("ECHO", "begin")]
                    own, expected = (self.replies(server, hello + commands).split(b"begin")[1]
                                     for server in (self.server, self.reference))
                    self.assertEqual(own, expected)

    def test_options_of_set(self):
        ends = [("GET", "k"), ("TTL", "k")]
        self.check([[("SET", "k", "v", *options), *ends] for options in [
            ("EX", "x", "FOO"), ("EX", 0, "NX", "XX"), ("EX", 10, "EX", 20), ("PX", 10_000, "PX", 20_000), ("EX", 10, "PX", 20),
            ("EX", 10, "KEEPTTL"), ("KEEPTTL", "EX", 10), ("KEEPTTL", "KEEPTTL"), ("EX", 10, "EX"), ("EX", "x"), ("EX", 0),
            ("EX", "x", "GET"), ("EX", 10, "EX", "x"), ("EX", "x", "EX", 10), ("PXAT", 0), ("EXAT", "x", "KEEPTTL"),
            ("EX", 9223372036854775807), ("PX", 9223372036854775807), ("EXAT", 9223372036854775807), ("NX", "GET"), ("XX", "NX"),
            ("NX", "NX", "EX", 10), ("GET", "GET"), ("EX", 10, "XX"), ("E\u0130", 10)]])
        self.check([[("RPUSH", "k", 1), ("SET", "k", "v", "EX", "x", "GET"), ("SET", "k", "v", "GET", "EX", 0)]])

    def test_unknown_commands(self):
        self.check([[command] for command in [
            ("FOO",), ("FOO", "a", "b"), ("FOO", *range(60)), ("FOO", "x" * 125), ("FOO", "x" * 126, "y"), ("FOO", "x" * 123, "y", "z"),
            ("FOO", "x" * 128, "y"), ("FOO", "x" * 200, "y"), ("FOO", "a\r\nb"), ("F\r\nO", "a"), ("F" * 200, "a"), ("FOO", b"a\0b", "c"),
            (b"F\0O", "a"), ("FOO", b"\xff\xfe"), (b"\xff", "x"), ("FOO", "", "")]])

    def test_subcommands(self):
        self.check([[command] for command in [
            ("COMMAND", "FOO"), ("COMMAND", "COUNT", "x"), ("COMMAND", "foo", "bar"), ("COMMAND", b"a\0b"), ("CLIENT", b"\xff"),
            ("COMMAND", "INFO", "nosuch"), ("COMMAND", "INFO", "nosuch", "neither")]])
        self.check([[("MULTI",), ("COMMAND", "FOO"), ("EXEC",)]])

    def test_the_positions_of_keys(self):
        own = {each[0]: each[3:6] for each in self.server.connect().call("COMMAND")}
        expected = {each[0]: each[3:6] for each in self.reference.connect().call("COMMAND")}
        self.assertEqual({name: expected[name] for name in own}, own)

    def test_commands_of_a_client_that_has_subscribed(self):
        self.check([[("SUBSCRIBE", "c"), command] for command in [
            ("GET", "k"), ("CLIENT", "ID"), ("CLIENT", "GETNAME"), ("CONFIG", "GET", "x"), ("COMMAND", "COUNT"), ("COMMAND",),
            ("CLIENT", "Foo"), ("FOO",)]], versions=(2,))

    def test_exec_that_is_refused_ends_the_transaction(self):
        self.check([[("MULTI",), ("SET", "a", 1), ("EXEC", "x"), ("GET", "a")], [("EXEC", "x")],
                    [("MULTI",), ("NOSUCH",), ("EXEC", "x"), ("EXEC",)]])
        # A client that has subscribed may not send it.
        self.check([[("SUBSCRIBE", "c"), ("EXEC",), ("PING",)], [("SUBSCRIBE", "c"), ("EXEC", "x")],
                    [("MULTI",), ("SUBSCRIBE", "c"), ("EXEC",), ("EXEC",)]], versions=(2,))

    def test_texts_in_resp3_are_verbatim(self):
        for command in [("INFO", "server"), ("INFO",), ("CLIENT", "INFO")]:
            for version, mark in ((2, b"$"), (3, b"=")):
                with self.subTest(command=command, version=version):
                    for server in (self.server, self.reference):
                        found = self.replies(server, [("HELLO", version), ("ECHO", "begin"), command])
                        reply = found.split(b"begin\r\n")[1]
                        self.assertEqual(reply[:1], mark)
                        head, text = reply.split(b"\r\n", 1)
                        self.assertEqual(text[int(head[1:]):], b"\r\n+RESET\r\n")
                        self.assertEqual(text.startswith(b"txt:"), version == 3)

    def test_sorted_sets(self):
        start, ends = ("ZADD", "z", 1, "a", 2, "b", 3, "c"), [("ZRANGE", "z", 0, -1, "WITHSCORES")]
        self.check([[start, ("ZADD", "z", *rest), *ends] for rest in [
            ("GT", 5, "a", 1, "b"), ("LT", 5, "a", 1, "b"), ("GT", "CH", 5, "a", 1, "b", 3, "c", 4, "d"),
            ("LT", "CH", 5, "a", 1, "b", 3, "c", 4, "d"), ("XX", "GT", "CH", 5, "a", 9, "d"), ("GT", "LT", 1, "a"), ("GT", "NX", 1, "a"),
            ("LT", "NX", 1, "a"), ("NX", "XX", 1, "a"), ("NX", "XX", "GT", 1, "a"), ("INCR", 5, "a"), ("INCR", 5, "d"),
            ("INCR", 5, "a", 6, "b"), ("INCR", "NX", 5, "a"), ("INCR", "NX", 5, "d"), ("INCR", "XX", 5, "d"), ("INCR", "GT", -5, "a"),
            ("INCR", "LT", -5, "a"), ("INCR", "GT", "CH", 5, "a"), ("INCR", "inf", "a"), ("INCR", "x", "a"), ("INCR", "0", "a"),
            ("GT", 1, "a", 5, "a", 2, "a"), ("LT", "CH", 5, "a", 0, "a", -1, "a"), ("GT",), ("GT", 1), ("INCR",), ("FOO", 1, "a"),
            ("INCR", "GT", 0, "a"), ("INCR", "-0.0", "a"), ("INCR", "-0.0", "d"), ("-0.0", "a", 0, "b"), ("CH", 1, "a", 2, "a", 1, "a"), ("GT", "gt", 9, "a")]])
        self.check([[("ZADD", "z", "inf", "a"), ("ZADD", "z", "INCR", "-inf", "a"), ("ZINCRBY", "z", "-inf", "a"), *ends],
                    [("ZADD", "z", "XX", "INCR", 1, "a"), ("EXISTS", "z")], [("ZADD", "z", "XX", "GT", 1, "a"), ("EXISTS", "z")],
                    [("RPUSH", "z", 1), ("ZADD", "z", "INCR", 1, "a"), ("ZADD", "z", "INCR", "x", "a"), ("ZADD", "z", "GT", 1, "a")]])
        self.check([[start, ("ZRANGE", "z", *rest)] for rest in [
            (0, -1, "REV"), (0, 0, "REV"), (1, 2, "rev", "WITHSCORES"), (1, 2, "WITHSCORES", "REV"), (-2, -1, "REV"), (0, -1, "REV", "REV"),
            (0, -1, "WITHSCORES", "WITHSCORES"), (5, 9, "REV"), (2, 1, "REV"), ("x", 1, "REV"), (0, -1, "WITH\u017fCORES"),
            (0, -1, "REV", "FOO"), (-100, 100, "REV")]])
        self.check([[start, ("ZRANK", "z", *rest)] for rest in [("a", "WITHSCORE"), ("a", "b", "c"), ()]])

    def test_many_members_at_once(self):
        pairs = [x for i in range(300) for x in (-i % 97, f"member-{i % 200}")]
        ends = [("ZRANGE", "z", 0, -1, "WITHSCORES")]
        self.check([[("ZADD", "z", *first), ("ZADD", "z", *options, *pairs), *ends]
                    for first in [(5, "member-7", 50, "other"), (1, "one")]
                    for options in [(), ("NX",), ("XX",), ("GT",), ("LT", "CH"), ("CH",), ("XX", "GT", "CH")]])
        self.check([[("ZADD", "z", *pairs), ("ZREM", "z", *[f"member-{i}" for i in range(0, 400, 3)]), *ends],
                    [("ZADD", "z", *pairs), ("ZREM", "z", *[f"member-{i % 200}" for i in range(400)]), ("EXISTS", "z")]])


if __name__ == "__main__":
    unittest.main()
