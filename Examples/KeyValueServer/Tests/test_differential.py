"""Random commands, sent to redis-server and to this server: the replies must be the same."""

import os
import random
import unittest

from servers import Process

# 21 bytes are the most that a table has itself; of the longest ones, the last byte differs.
KEYS = [f"k{index}" for index in range(8)] + ["k" * 21, "k" * 22, "k" * 40 + "1", "k" * 40 + "2"]
FIELDS = ["f1", "f2", "f" * 21, "f" * 21 + "1"]
NUMBERS = ["0", "1", "-1", "7", "-3", "2", "100", "9223372036854775807", "-9223372036854775808", "1.5", "abc", "", "01"]
UNORDERED = {"SMEMBERS", "HGETALL", "HKEYS", "HVALS"}


def make(rng):
    """Returns a random command after which nothing depends on the moment, but for the times that are left."""
    while True:
        command = make_any(rng)
        # The key would be gone after a few seconds, on one server before the other.
        if command[0] != "SETEX" or command[2] not in ("1", "2", "7"):
            return command


def make_any(rng):
    """Returns a random command."""
    key, value = lambda: rng.choice(KEYS), lambda: rng.choice(["a", "bb", "10", "-5", "x" * 40, "", "0", "v" * 20, "v" * 21, "v" * 22])
    number = lambda: rng.choice(NUMBERS)
    field, step = lambda: rng.choice(FIELDS), lambda: rng.choice(["1", "2", "2.5", "-1", "1e3", "inf", "x", "0.1", "1e400"])
    score = lambda: rng.choice([step(), step(), "1e-5", "-1e400", "1e-400", "-0.0", "1e17", " 1", "0x10", "+inf", "nan", ""])
    index = lambda: rng.choice(["0", "1", "-1", "-2", "5", "100", "-100", "x"])
    option = lambda: rng.choice([[], ["NX"], ["XX"], ["GET"], ["EX", "100"], ["PX", "100000"], ["EX", "0"], ["EX"],
                                 ["KEEPTTL"], ["NX", "XX"], ["XX", "GET"], ["FOO"], ["EX", "x"], ["NX", "EX", "50"], ["EX", "x", "EX", "70"], ["EX", "9", "PX", "9"]])
    # Random: a second GT of the same time is later by a millisecond, or not, on one server and not on the other.
    later = lambda: str(rng.randint(200, 1 << 20))
    some = lambda make: [make() for _ in range(rng.randint(1, 4))]
    pairs = lambda one, two: [x for _ in range(rng.randint(1, 3)) for x in (one(), two())]
    return rng.choice([
        lambda: ["SET", key(), value(), *option()], lambda: ["SET", key(), value()], lambda: ["GET", key()],
        lambda: ["GETSET", key(), value()], lambda: ["GETDEL", key()], lambda: ["SETNX", key(), value()],
        lambda: ["SETEX", key(), number(), value()], lambda: ["APPEND", key(), value()], lambda: ["STRLEN", key()],
        lambda: ["MGET", *some(key)], lambda: ["MSET", *pairs(key, value)], lambda: ["MSET", key(), value(), key()],
        lambda: ["INCR", key()], lambda: ["DECR", key()], lambda: ["INCRBY", key(), number()],
        lambda: ["DECRBY", key(), number()], lambda: ["DEL", *some(key)], lambda: ["EXISTS", *some(key)],
        lambda: ["TYPE", key()], lambda: ["EXPIRE", key(), rng.choice(["100", "0", "-1", "x"])],
        lambda: ["EXPIRE", key(), *rng.choice([["100", "NX"], ["100", "XX"], [later(), "GT"], ["50", "LT"], ["9", "YY"],
                                              ["100", "NX", "NX"], ["100", "NX", "XX"], [later(), "XX", "GT"],
                                              ["50", "lt", "xx"], ["9", "GT", "LT"], ["9", "NX", "YY"]])],
        lambda: ["TTL", key()],
        lambda: ["PERSIST", key()], lambda: ["LPUSH", key(), *some(value)], lambda: ["RPUSH", key(), *some(value)],
        lambda: ["LPOP", key()], lambda: ["RPOP", key(), index()], lambda: ["LPOP", key(), "2"],
        lambda: ["LLEN", key()], lambda: ["LRANGE", key(), index(), index()], lambda: ["LINDEX", key(), index()],
        lambda: ["HSET", key(), *pairs(field, value)], lambda: ["HSET", key(), field(), value(), field()],
        lambda: ["HGET", key(), field()], lambda: ["HMGET", key(), *some(field)], lambda: ["HDEL", key(), *some(field)],
        lambda: ["HLEN", key()], lambda: ["HGETALL", key()], lambda: ["HEXISTS", key(), field()],
        lambda: ["HKEYS", key()], lambda: ["HVALS", key()], lambda: ["HINCRBY", key(), field(), number()],
        lambda: ["SADD", key(), *some(value)], lambda: ["SREM", key(), *some(value)], lambda: ["SCARD", key()],
        lambda: ["SISMEMBER", key(), value()], lambda: ["SMEMBERS", key()],
        lambda: ["ZADD", key(), *pairs(score, field)],
        lambda: ["ZADD", key(), *rng.choice([["NX"], ["XX"], ["CH"], ["GT"], ["LT", "CH"], ["XX", "GT"], ["NX", "GT"], ["GT", "LT"],
                                            ["INCR"]]), *pairs(score, field)],
        lambda: ["ZADD", key(), *rng.choice([["INCR"], ["INCR", "NX"], ["XX", "INCR"], ["INCR", "GT"], ["LT", "INCR"]]),
                 score(), field()],
        lambda: ["ZREM", key(), *some(field)], lambda: ["ZSCORE", key(), field()], lambda: ["ZCARD", key()],
        lambda: ["ZRANGE", key(), index(), index(), *rng.choice([[], ["WITHSCORES"], ["FOO"], ["REV"], ["REV", "WITHSCORES"]])],
        lambda: ["ZRANK", key(), field()], lambda: ["ZINCRBY", key(), step(), field()],
        lambda: ["ZPOPMIN", key(), *rng.choice([[], ["2"], ["0"], ["-1"], ["1", "1"]])],
        lambda: ["DBSIZE"], lambda: ["PING"], lambda: ["ECHO", value()], lambda: ["SELECT", rng.choice(["0", "x", "-1", "99999999999"])],
        lambda: ["PUBLISH", key(), value()], lambda: ["NOSUCH", key(), value()], lambda: ["GET"],
        lambda: ["GET", key(), key()], lambda: ["EXEC"], lambda: ["DISCARD"], lambda: ["MULTI"], lambda: ["EXEC"],
        lambda: rng.choice([["EXEC", key()], ["MULTI"], ["MULTI"]]),
        lambda: rng.choice([["FLUSHALL"], ["FLUSHALL", "ASYNC"], ["FLUSHDB", "sync"]] + [["PING"]] * 60),
        lambda: [rng.choice(["FLUSHALL", "FLUSHDB"]), *rng.choice([["BOGUS"], ["SYNC", "ASYNC"]])],
        lambda: ["CLIENT", "SETNAME", rng.choice(["me", "a b", "a\nb", ""])], lambda: ["CLIENT", "GETNAME"],
    ])()


def normal(command, reply):
    """Orders what has no order; a time that is left depends on the moment."""
    if command[0] == "TTL" and isinstance(reply, int) and reply > 0:
        return "some time"
    if command[0] in UNORDERED and isinstance(reply, list):
        if command[0] == "HGETALL":
            rest = reply[1:] if reply[:1] == ["map"] else reply
            return sorted(zip(rest[::2], rest[1::2]))
        return sorted(reply, key=repr)
    return reply


class Differential(unittest.TestCase):
    def test_random_commands_get_the_replies_of_redis(self):
        seed = int(os.environ.get("KV_SEED", random.randrange(1 << 30)))
        count = int(os.environ.get("KV_COMMANDS", 6000))
        with Process(reference=True) as reference:
            for arguments in (["--threads", 2], ["--threads", 3, "--shard-count", 3]):
                with Process(*arguments) as subject:
                    for version in (2, 3):
                        with self.subTest(seed=seed, arguments=arguments, version=version):
                            self.compare(reference, subject, version, random.Random(seed), count)

    def compare(self, reference, subject, version, rng, count):
        connections = [reference.connect(), subject.connect()]
        for connection in connections:
            connection.call("FLUSHALL")
            connection.call("HELLO", version)
        history, queued = [], []
        sent = 0
        while sent < count:
            commands = [make(rng) for _ in range(rng.choice([1, 1, 2, 5, 30]))]
            for connection in connections:
                for command in commands:
                    connection.send(*command)
            for command in commands:
                expected, found = (connection.reply() for connection in connections)
                history.append(command)
                if command[0] == "EXEC" and isinstance(expected, list) and isinstance(found, list):
                    # The replies of the commands that were queued.
                    self.assertEqual(len(expected), len(found), history[-12:])
                    self.assertEqual(len(expected), len(queued), history[-12:])
                    pairs = list(zip(queued, expected, found))
                else:
                    pairs = [(command, expected, found)]
                for part, one, two in pairs:
                    self.assertEqual(normal(part, one), normal(part, two), (part, history[-8:]))
                if expected == "+QUEUED":
                    queued.append(command)
                elif command[0] in ("EXEC", "DISCARD"):
                    # Not at MULTI: one inside of a transaction is refused, and the transaction goes on.
                    queued = []
            sent += len(commands)
        for connection in connections:
            connection.close()


if __name__ == "__main__":
    unittest.main()
