"""Random commands, sent to redis-server and to this server: the replies must be the same."""

import os
import random
import unittest

from servers import Process, encode

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


def make_large_sorted(rng, members, grows, most):
    """Returns a random command for a sorted set of some thousand members. Most of them add members, or else remove some: `most` of them
    at once."""
    key, member = rng.choice(["z1", "z2"]), lambda: f"m{rng.randrange(members)}"
    # Many members have the same score.
    score = lambda: rng.choice([rng.randrange(10), rng.randrange(1000), rng.randrange(-members, members), f"{rng.gauss(0, 1):.9g}"])
    count = lambda: rng.choice([1] * 8 + [5, most])
    index = lambda: rng.randrange(-members, members)

    def window():
        first = index()
        return [first, first + rng.choice([0, 10, 600]) if first < -600 or first >= 0 else -1]

    add = lambda: ["ZADD", key, *[x for _ in range(count()) for x in (score(), member())]]
    # Most of them anywhere, so that all parts of the set become smaller.
    remove = lambda: rng.choice([["ZREM", key, *[member() for _ in range(count())]]] * 8
                                + [["ZPOPMIN", key], ["ZPOPMIN", key, rng.choice([1, 3, most // 10])]])
    return rng.choice([
        *[add if grows else remove] * 8, remove if grows or rng.random() < 0.8 else add,
        lambda: ["ZINCRBY", key, score(), member()], lambda: ["ZADD", key, "XX", "INCR", score(), member()],
        lambda: ["ZADD", key, "XX", "CH", score(), member()],
        lambda: ["ZRANK", key, member()], lambda: ["ZSCORE", key, member()], lambda: ["ZCARD", key],
        lambda: ["ZRANGE", key, *window(), *rng.choice([[], ["WITHSCORES"], ["REV"], ["REV", "WITHSCORES"]])],
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

    def test_large_sorted_sets_get_the_replies_of_redis(self):
        seed = int(os.environ.get("KV_SEED", random.randrange(1 << 30)))
        with Process(reference=True) as reference, Process() as subject, self.subTest(seed=seed):
            connections, rng = [server.connect() for server in (reference, subject)], random.Random(seed)

            def compare(commands):
                """Returns the replies to the commands, which must be the same."""
                for connection in connections:
                    connection.write(b"".join(encode(*command) for command in commands))
                expected, found = ([connection.reply() for _ in commands] for connection in connections)
                for number, command in enumerate(commands):
                    self.assertEqual(expected[number], found[number], commands[:number + 1])
                return found

            # In their order, which fills all parts of the set; and then one behind each of them, also behind the last one of a part.
            compare([["ZADD", "z1", 2 * index, f"even-{index}"] for index in range(1500)])
            compare([["ZADD", "z1", 2 * index + 1, f"odd-{index}"] for index in reversed(range(1500))])
            compare([["ZRANGE", "z1", 0, -1, "WITHSCORES"], ["ZPOPMIN", "z1", 10_000]])
            # Until the set has had so many members, and then until it has so few. Up to 64 are added or removed one by one, many are sorted
            # in together.
            for members, least, most in [(4000, 300, 30), (3000, 300, 300)]:
                for grows in (True, False):
                    compare([["ZPOPMIN", "z1", 700]])
                    while True:
                        compare([make_large_sorted(rng, members, grows, most) for _ in range(100)])
                        ranges = [["ZRANGE", "z1", 0, -1, "WITHSCORES"], ["ZRANGE", "z1", 0, -1, "REV"]]
                        size = compare([["ZCARD", "z1"], *ranges])[0]
                        if size > members * 0.6 if grows else size <= least:
                            break
            compare([["ZPOPMIN", "z1", 10_000], ["EXISTS", "z1"]])

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
