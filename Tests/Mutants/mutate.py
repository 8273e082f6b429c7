"""Finds the places in the library's sources where a small mutation is possible, and writes sources with all of a sample
in them, each switched on by its number (`rr_is_mutant`, see runner.py).

A mutation only inserts text before and after a range, on the lines that are there. So ranges may contain one another, and
the line of a compiler's error is a line of the original.
"""

import hashlib
import re
from dataclasses import dataclass

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
# What cannot change the behaviour, or only diagnoses.
SKIPPED_CALLS = r"\b(?:\w*assert\w*|precondition\w*|fatalError|Tracepoint\.\w+|RR_TRACE\w*|__builtin_expect)\s*\("
SKIPPED_STATEMENTS = r"reserveCapacity|\bpause\(|rr_pause|yield\(|Tracepoint|RR_TRACE|withExtendedLifetime"
NOT_A_STATEMENT = (
    r"(?:if|guard|return|let|var|func|init|case|switch|for|while|defer|throw|super|else|default|in|repeat|do|catch|"
    r"self\.init|unsafe|import|extension|struct|class|enum|discard|break|continue|goto|static|const|typedef|public|"
    r"private|fileprivate|package|internal|open|final|mutating|nonisolated|override|convenience|indirect|weak|get|set)\b")


@dataclass
class Mutant:
    path: str
    start: int
    end: int
    prefix: str  # with {M} for the call of rr_is_mutant
    suffix: str
    rule: str
    change: str
    line: int
    last_line: int
    id: str = ""
    number: int = 0


def mask(text, is_c):
    """The text with comments blank and the contents of strings replaced, so that offsets stay."""
    out = list(text)
    i = 0

    def blank(start, end, filler):
        for k in range(start, min(end, len(text))):
            if text[k] != "\n":
                out[k] = filler

    while i < len(text):
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            blank(i, end, " ")
        elif text.startswith("/*", i):
            end = text.find("*/", i) + 2
            blank(i, end, " ")
        elif text[i] == '"' or (is_c and text[i] == "'"):
            quote = '"""' if text.startswith('"""', i) else text[i]
            end, depth = i + len(quote), 0
            while end < len(text) and (depth > 0 or not text.startswith(quote, end)):
                if text[end] == "\\":
                    depth += text[end + 1] == "("
                    end += 1
                elif depth:
                    depth += (text[end] == "(") - (text[end] == ")")
                end += 1
            end += len(quote)
            blank(i + 1, end - 1, "_")
        else:
            end = i + 1
        i = end
    return "".join(out)


def closing(code, opening):
    """The offset of the bracket that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return len(code)


class Finder:
    """The mutants of one file."""

    def __init__(self, path, text):
        self.path, self.text, self.is_c = path, text, path.endswith((".c", ".h"))
        self.code = mask(text, self.is_c)
        self.hide_inactive()
        for call in re.finditer(SKIPPED_CALLS, self.code):
            if not call.group().startswith("__builtin_expect"):
                self.hide(call.start(), closing(self.code, call.end() - 1) + 1)
        self.found = []
        self.lines = []  # (start, end) of each line
        start = 0
        for line in self.code.split("\n"):
            self.lines.append((start, start + len(line)))
            start += len(line) + 1

    def hide(self, start, end):
        self.code = self.code[:start] + re.sub(r"[^\n]", "#", self.code[start:end]) + self.code[end:]

    def hide_inactive(self):
        """Hides what the debug build without traits does not compile, what is for it alone, and directives."""
        stack, offset = [], 0
        for line in self.code.split("\n"):
            word = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|elseif|endif)\b(.*)", line)
            if word and word[1].startswith("if"):
                is_guard = word[1] == "ifndef" and word[2].strip().endswith("_H")
                stack.append("on" if is_guard else "else" if re.search("PureSwift|Tracepoints", word[2]) else "off")
            elif word and word[1] == "else":
                stack[-1] = "on" if stack[-1] == "else" else "off"
            elif word and word[1] == "endif":
                stack.pop()
            if any(state != "on" for state in stack) or line.lstrip().startswith(("#", "@", "import ", "case ")):
                self.hide(offset, offset + len(line))
            offset += len(line) + 1

    def add(self, start, end, prefix, suffix, rule, change):
        line = self.code.count("\n", 0, start) + 1
        if "#" in self.code[start:end]:
            return
        if self.is_c and not self.is_in_function(start):
            return
        self.found.append(Mutant(self.path, start, end, prefix, suffix, rule, " ".join(change.split()), line,
                                 line + self.code.count("\n", start, end)))

    def is_in_function(self, offset):
        """C: a function's body is what follows a line that begins in the first column and ends with ") {"."""
        head = re.search(r"(?m)(?:.|\n)*^(\S[^\n]*)$", self.code[:self.code.rfind("\n", 0, offset) + 1].rstrip("\n"))
        before = self.code[:offset]
        top = max((m.start() for m in re.finditer(r"(?m)^[^\s#}]", before)), default=0)
        return head is not None and re.search(r"\)\s*\{", before[top:]) is not None \
            and not re.match(r"(typedef )?(struct|enum|union)\b[^()]*\{", before[top:])

    def find(self):
        self.find_conditions()
        self.find_operators()
        self.find_literals()
        self.find_statements()
        seen = {}
        for mutant in self.found:
            key = f"{self.path}|{mutant.rule}|{mutant.change}"
            seen[key] = seen.get(key, 0) + 1
            mutant.id = hashlib.sha1(f"{key}|{seen[key]}".encode()).hexdigest()[:7]
        return self.found

    # Conditions: negated, or without one of its checks.

    def find_conditions(self):
        for word in re.finditer(r"\b(if|guard|while)\b(?=[ (])", self.code):
            start = word.end()
            if self.is_c:
                opening = self.code.find("(", start)
                clauses = [(opening + 1, closing(self.code, opening))]
            elif self.code[:word.start()].rstrip(" ").endswith("}") and word[1] == "while":
                continue
            else:
                clauses = self.clauses(start, word[1] == "guard")
            for first, last in clauses:
                first += len(self.code[first:last]) - len(self.code[first:last].lstrip())
                last = first + len(self.code[first:last].rstrip())
                clause = self.code[first:last]
                if re.match(r"(let|var|case)\b|$", clause):
                    continue
                shown = self.text[first:last]
                if not re.search(r" (&&|\|\||<|>|<=|>=|==|!=) ", clause):
                    prefix = "({M} ^ !!(" if self.is_c else "({M} != ("
                    self.add(first, last, prefix, "))", "negate", f"{word[1]} {shown}")
                if word[1] == "guard":
                    self.add(first, last, "({M} || (", "))", "skip check", f"guard {shown}")
                else:
                    self.add(first, last, "(!{M} && (", "))", "never", f"{word[1]} {shown}")

    def clauses(self, start, is_guard):
        """Swift: the parts of a condition, which ends at the brace of its body or at `else`."""
        clauses, i = [], start
        while i < len(self.code):
            if self.code[i] == "{" and not is_guard or is_guard and re.match(r"\belse\b", self.code[i:i + 5]):
                clauses.append((start, i))
                break
            if self.code[i] == ",":
                clauses.append((start, i))
                start = i + 1
            i = closing(self.code, i) + 1 if self.code[i] in "([{" else i + 1
        return clauses

    # Comparisons off by one or reversed; operands of && and || left out.

    def operand(self, offset, step, stops):
        """The end of the operand that begins at the offset and goes left or right."""
        i, depth = offset, 0
        while 0 <= i < len(self.code):
            char = self.code[i]
            depth += step * ((char in "([{") - (char in ")]}"))
            if depth < 0 or depth == 0 and (char in ",;\n{}" or re.match(stops, self.code[i - (step < 0) * 7:i + 8])):
                break
            i += step
        if step < 0:
            i += 1
            word = re.match(r"\s*(?:(?:return|if|guard|while|in|else)\b\s*)*", self.code[i:offset])
            for match in re.finditer(r" (?:=|\?|:|&&|\|\||[-+|&]=) |: |\b(?:return|if|while|guard|in) ", self.code[i:offset]):
                if self.depth(i, i + match.start()) == 0:
                    word = match
            i += word.end()
        return i

    def depth(self, start, end):
        return sum((c in "([{") - (c in ")]}") for c in self.code[start:end])

    def find_operators(self):
        for operator in re.finditer(r"(?<= )(<=?|>=?|[=!]=|&&|\|\|)(?= )", self.code):
            sign = operator[1]
            is_logical = sign in ("&&", "||")
            first = self.operand(operator.start() - 2, -1, r"$^")
            stops = r" (\?|&&|\|\||\{)" if is_logical else r" (\?|:|&&|\|\||\{)"
            last = self.operand(operator.end(), 1, stops)
            left = self.text[first:operator.start() - 1].strip()
            right = self.text[operator.end() + 1:last].strip()
            if not left or not right or self.code[first:last].strip() == "":
                continue
            if is_logical:
                begin = operator.end() + 1
                prefix = "({M} || (" if sign == "&&" else "(!{M} && ("
                self.add(begin, last, prefix, "))", "skip operand", f"{sign} {right}")
            else:
                other = COMPARISONS[sign]
                self.add(first, last, f"({{M}} ? ({left} {other} {right}) : (", "))", "compare",
                         f"{left} {sign} {right} -> {other}")

    # Constants.

    def find_literals(self):
        for literal in re.finditer(r"(?<![\w.$#{\"])(\d+)(?![\w.\"]|\s*<<)", self.code):
            value = int(literal[1])
            shown = self.line_at(literal.start())
            is_hint = re.search(r"__builtin_expect\(.*, $", self.code[self.code.rfind("\n", 0, literal.start()):literal.start()])
            if value <= 8 and not is_hint and not re.search(SKIPPED_STATEMENTS, shown):
                self.add(literal.start(), literal.end(), f"({{M}} ? {value + 1} : ", ")", "off by one",
                         f"{value} -> {value + 1} in: {shown}")
        for literal in re.finditer(r"\b(true|false)\b", self.code):
            prefix, suffix = ("(!{M} && ", ")") if literal[1] == "true" else ("({M} || ", ")")
            self.add(literal.start(), literal.end(), prefix, suffix, "constant",
                     f"not {literal[1]} in: {self.line_at(literal.start())}")

    def line_at(self, offset):
        return self.text[self.text.rfind("\n", 0, offset) + 1:self.text.find("\n", offset)].strip()

    # Statements: left out, or exchanged with the next one.

    def statement(self, index):
        """The range of the statement that begins in that line, if it is a call or an assignment."""
        start, end = self.lines[index]
        code = self.code[start:end]
        start += len(code) - len(code.lstrip())
        body = self.code[start:end]
        if re.match(NOT_A_STATEMENT, body) or re.search(SKIPPED_STATEMENTS, body):
            return None
        call = re.match(r"(?:_ = |\(void\))?(?:try |await )*[A-Za-z_$][\w.?!>-]*" + (r"\(" if self.is_c else r"( \{|\(|\[)"), body)
        assignment = re.match(r"\*?[A-Za-z_][\w.>\[\]()-]* (?:[-+*|&]|&\+|&-)?= \S", body)
        if not call and not assignment:
            return None
        i = start
        while i < len(self.code) and not (self.code[i] == "\n"):
            i = closing(self.code, i) + 1 if self.code[i] in "([{" else i + 1
        stop = i
        text = self.code[start:stop]
        following = self.code[stop:stop + 200].lstrip()
        if self.is_c and not text.endswith(";") or re.match(r"[.?&|+:*-]|else", following) or text.endswith(("{", ",")):
            return None
        if not self.is_c and not assignment and not text.endswith((")", "}")):
            return None
        before = self.code[:self.lines[index][0]].rstrip()
        if re.search(r"[,(\[=&|+?:-]$|\breturn$|\belse$", before) or self.is_c and not re.search(r"[;{}]$", before):
            return None
        if assignment and not self.is_c and self.is_in_init(index):
            return None
        # The only expression of a function is its result.
        if not self.is_c and before.endswith("{") and following.startswith("}"):
            header = before[before.rfind("\n") + 1:]
            if re.search(r"->|\bvar \w+:|= \{$", header):
                return None
        return start, stop

    def is_in_init(self, index):
        start, end = self.lines[index]
        indent = len(self.code[start:end]) - len(self.code[start:end].lstrip())
        for first, last in reversed(self.lines[:index]):
            line = self.code[first:last]
            if line.strip() and len(line) - len(line.lstrip()) < indent:
                indent = len(line) - len(line.lstrip())
                if re.search(r"\binit\??[(<]|^\s*\) .*\{$", line):
                    return True
                if re.search(r"\b(func|var|deinit|subscript)\b", line):
                    return False
        return False

    def find_statements(self):
        previous = None
        for index, (start, end) in enumerate(self.lines):
            line = self.code[start:end]
            if re.match(r"\s*return;?$", line) and not re.search(r"else \{$", self.code[:start].rstrip()):
                first = end - len(line.lstrip())
                self.drop(first, end)
            # One-line bodies.
            body = re.search(r"(?:\b(?:defer|else)|func [^>]*\)) \{ ([\w.?]+\(.*\)) \}$", line)
            if body and not self.is_c and not re.search(SKIPPED_STATEMENTS, line):
                self.drop(start + body.start(1), start + body.end(1))
            found = self.statement(index)
            if found is None:
                continue
            self.drop(*found)
            gap = previous and self.code[previous[1]:found[0]]
            if previous and gap.strip() == "" and gap.count("\n") == 1:
                first, second = self.text[previous[0]:previous[1]], self.text[found[0]:found[1]]
                if "//" not in first + second and "\n" not in first + second:
                    condition = "if ({M})" if self.is_c else "if {M}"
                    separator = " " if self.is_c else "; "
                    self.add(previous[0], found[1], f"{condition} {{ {second}{separator}{first} }} else {{ ", " }",
                             "exchange", f"{first} <-> {second}")
            previous = found

    def drop(self, start, end):
        prefix, suffix = ("{{ if (!{M}) ", " }}") if self.is_c else ("if !{M} {{ ", " }}")
        prefix, suffix = prefix.replace("{{", "{"), suffix.replace("}}", "}")
        self.add(start, end, prefix, suffix, "leave out", self.text[start:end])


def instrument(path, text, mutants):
    """The text with these mutants in it."""
    insertions = []
    for mutant in mutants:
        length = mutant.end - mutant.start
        call = f"rr_is_mutant({mutant.number})"
        # Of those that begin at one place the longest one comes first; of those that end at one place, the shortest.
        insertions.append((mutant.start, 1, -length, mutant.number, mutant.prefix.replace("{M}", call)))
        insertions.append((mutant.end, 0, length, -mutant.number, mutant.suffix))
    out, position = [], 0
    for offset, _, _, _, inserted in sorted(insertions):
        out += [text[position:offset], inserted]
        position = offset
    body = "".join(out) + text[position:]
    if path.endswith((".c", ".h")):
        return f'#include "rr_mutant.h"\n#line 1\n{body}'
    return f"import CReactorCore; {body}"
