"""Where a source can be wrong in one small way: tokens in, mutants out.

A mutant has what a reader sees (`before` and `after` of its line) and how it becomes a choice of the run (`edits`, choice.h). Only places where the
rewritten text is surely C++ are taken: nothing in constexpr contexts, template arguments, case labels, preprocessor lines, literals of text, comments."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r'''
  (?P<space>\s+|//[^\n]*|/\*.*?\*/)
 |(?P<raw>(?:u8|u|U|L)?R"(?P<mark>[^()\\ ]{0,16})\(.*?\)(?P=mark)")
 |(?P<text>(?:u8|u|U|L)?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
 |(?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
 |(?P<word>[A-Za-z_]\w*)
 |(?P<sign><=>|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
''', re.X | re.S)

RELATIONS = {'<': ('<=', 'LessToLessEqual'), '<=': ('<', 'LessEqualToLess'), '>': ('>=', 'GreaterToGreaterEqual'),
             '>=': ('>', 'GreaterEqualToGreater'), '==': ('!=', 'EqualToUnequal'), '!=': ('==', 'UnequalToEqual'),
             '+': ('-', 'PlusToMinus'), '-': ('+', 'MinusToPlus')}
TURNED = {'<': ('>', 'LessToGreater'), '>': ('<', 'GreaterToLess')}  # in an order
DURATIONS = {'Nanoseconds', 'Microseconds', 'Milliseconds', 'Seconds', 'Minutes', 'Hours'}
NUMBER_TYPES = {'const', 'int', 'unsigned', 'double', 'std', 'absl', '::', 'int32_t', 'int64_t', 'uint32_t', 'uint64_t', 'size_t', 'Duration'}
PAIRS = {')': '(', ']': '[', '}': '{'}
ENDS_AN_OPERAND = {',', ';', '=', '+=', '-=', '?', ':', 'return', 'case', 'else', 'throw', '(', '[', '{', '<<=', '>>='}
LOOPS = {'for', 'while', 'do'}
NO_STATEMENTS = {'if', 'for', 'while', 'switch', 'return', 'else', 'do', 'case', 'default', 'using', 'delete', 'throw', 'goto', 'static_assert', 'GW_CHECK',
                 'GW_ASSIGN_OR_RETURN', 'sizeof', 'decltype'}
# What these do cannot be seen, on purpose: a log line is no promise, and room is only made early.
UNSEEN_CALLS = {'reserve', 'shrink_to_fit'}


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass
class Edit:
    """Text around [start, end) (`before`, `after`), or instead of it (`instead`). `rank`: of edits of one range the lowest is outermost."""
    start: int
    end: int
    before: str = ''
    after: str = ''
    instead: str | None = None
    rank: int = 9


@dataclass
class Mutant:
    kind: str
    at: int                                     # offset
    shown: list = field(default_factory=list)   # (start, end, text): the source as if written so
    edits: list = field(default_factory=list)   # with {n} for the mutant's number
    path: str = ''
    line: int = 0
    ordinal: int = 0
    before: str = ''
    after: str = ''
    name = property(lambda self: f'{self.path}#{self.ordinal}')


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = self._lex()
        self.match, self.inside = self._brackets()
        self.brace = {}
        for i, token in enumerate(self.tokens):
            if token.text == '{':
                self.brace[i] = self._brace_kind(i)
        self.skipped = [False] * len(self.tokens)
        self.constants = {}  # token -> the `constexpr` it stands in, which may as well be const
        self._skip()

    def _lex(self):
        tokens, at = [], 0
        blanked = re.sub(r'^[ \t]*#(?:[^\n\\]|\\.)*', lambda m: re.sub(r'[^\n]', ' ', m[0]), self.text, flags=re.M | re.S)
        while at < len(blanked):
            m = TOKEN.match(blanked, at)
            if m.lastgroup != 'space':
                kind = 'text' if m.lastgroup in ('raw', 'mark') or m['raw'] else m.lastgroup
                if kind != 'space':
                    tokens.append(Token(kind, m[0], m.start(), m.end()))
            at = m.end()
        return tokens

    def _brackets(self):
        match, inside, stack = {}, [], []
        for i, token in enumerate(self.tokens):
            if token.kind == 'sign' and token.text in PAIRS:
                opened = stack.pop()
                match[i], match[opened] = opened, i
            inside.append(stack[-1] if stack else None)
            if token.kind == 'sign' and token.text in ('(', '[', '{'):
                stack.append(i)
        return match, inside

    def word(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ''

    def _control(self, closing):
        """The keyword of `if (...)`, given its `)`."""
        before = self.match[closing] - 1
        if self.word(before) == 'constexpr':
            before -= 1
        return self.word(before) if self.word(before) in ('if', 'for', 'while', 'switch') else None

    def _brace_kind(self, i):
        """What a `{` opens: if, for, while, switch, do, body (of a function or lambda), block, scope or init."""
        before = self.word(i - 1)
        around = self.brace.get(self._around(i))
        if before == ')':
            return self._control(i - 1) or 'body'
        if before in ('else', 'try'):
            return 'if' if before == 'else' else 'block'
        if before == 'do':
            return 'do'
        if before in ('mutable', 'noexcept', 'const', 'override', 'final', ']'):
            return 'body'
        if before in (';', '{', '}', ':', '') and around not in ('init', 'scope', None):
            return 'block'
        j = i - 1
        while j >= 0 and self.word(j) not in (';', '{', '}', '(', ','):
            if self.word(j) in ('namespace', 'class', 'struct', 'enum', 'union'):
                return 'scope'
            if self.word(j) == '->' and self.word(j - 1) == ')':
                return 'body'
            j = self.match[j] - 1 if self.word(j) in (')', ']') else j - 1
        return 'body' if before == '}' and around != 'init' else 'init'

    def _around(self, i):
        """The innermost `{` around a token."""
        at = self.inside[i]
        while at is not None and self.word(at) != '{':
            at = self.inside[at]
        return at

    def in_code(self, i):
        at = self._around(i)
        while at is not None and self.brace[at] == 'init':
            at = self._around(at)
        return at is not None and self.brace[at] != 'scope' and not self.skipped[i]

    # ---- what is left alone

    def _skip(self):
        for i, token in enumerate(self.tokens):
            word = token.text
            if word == 'constexpr' and self.word(i - 1) != 'if':
                self._skip_constexpr(i)
            elif word == 'constexpr' or (word in ('static_assert', 'sizeof', 'decltype', 'noexcept', 'GW_CHECK') and self.word(i + 1) == '('):
                self._mark(i, self.match[i + 1])
            elif word == 'log' and self.word(i + 1) == '::' and self.word(i + 3) == '(':
                self._mark(i, self.match[i + 3])
            elif word == 'case':
                self._mark(i, self._label_end(i))
            elif word == 'using' and self.word(i + 1) != '(':
                self._mark(i, self._find(i, ';'))
            elif word == '<' and (self.word(i - 1) == 'template' or not self._spaced(i)):
                self._mark(i, self._angle_end(i))
            elif word == '[' and self.word(i + 1) == '[':
                self._mark(i, self.match[i])

    def _mark(self, first, last):
        for i in range(first, min(last, len(self.tokens) - 1) + 1):
            self.skipped[i] = True

    def _find(self, i, sign):
        while i < len(self.tokens) and self.word(i) != sign:
            i = self.match[i] + 1 if self.word(i) in ('(', '[', '{') else i + 1
        return i

    def _label_end(self, i):
        return self._find(i, ':')

    def _angle_end(self, i):
        depth = 0
        for j in range(i, min(i + 60, len(self.tokens))):
            if self.word(j) in (';', '{'):
                break
            depth += {'<': 1, '>': -1, '>>': -2}.get(self.word(j), 0)
            if depth <= 0:
                return j
        return i

    def _skip_constexpr(self, i):
        last = i
        while last < len(self.tokens) and self.word(last) != ';':
            if self.word(last) in ('(', '[', '{'):
                is_body = self.brace.get(last) == 'body'
                last = self.match[last]
                if is_body:
                    break
            last += 1
        equals = self._find(i, '=')
        kind = {self.word(j) for j in range(i + 1, equals - 1)}
        if equals < last and kind <= NUMBER_TYPES and self.word(i - 1) not in ('static', 'inline'):
            for j in range(equals, last):
                self.constants[j] = i
        self._mark(i, last)

    # ---- small questions

    def _spaced(self, i):
        token = self.tokens[i]
        return self.text[token.start - 1].isspace() and self.text[token.end:token.end + 1].isspace()

    def _is_binary(self, i):
        before = self.tokens[i - 1]
        return self._spaced(i) and (before.kind != 'sign' or before.text in (')', ']', '}')) and before.text not in ('return', 'case', 'operator', 'else')

    def _starts_statement(self, i):
        before, around = self.word(i - 1), self.inside[i]
        if around is None or self.word(around) != '{' or not self.in_code(i) or self.brace[around] in ('init', 'scope'):
            return False
        if before == ')':
            return self._control(i - 1) in ('if', 'for', 'while')
        if before == ':':
            j = i - 2
            while j >= 0 and self.word(j) not in (';', '{', '}', 'case', '?'):
                j -= 1
            return self.word(j) == 'case'
        return before in (';', '{', '}', 'else')

    def _loop_or_switch(self, i):
        at = self._around(i)
        while at is not None and self.brace[at] not in LOOPS | {'switch', 'body', 'scope'}:
            at = self._around(at)
        return self.brace.get(at)

    # ---- mutants

    def mutants(self):
        found = []
        for i, token in enumerate(self.tokens):
            if token.kind == 'number':
                found += self._number(i)
            if not self.in_code(i):
                if token.text == 'case':
                    found += self._case(i)
                continue
            if token.text in RELATIONS and self._is_binary(i):
                found += self._operator(i)
            elif token.text in ('+=', '-='):
                found += self._compound(i)
            elif token.text == '!' and self.tokens[i + 1].start == token.end:
                found.append(Mutant('negation', token.start, [(token.start, token.end, '')],
                                    [Edit(token.start, token.end, instead='gw_mutants::Not{{{n}}} % ')]))
            elif token.text == 'if' and self.word(i + 1) == '(':
                found += self._condition(i)
            elif token.text == 'return':
                found += self._early_return(i)
            elif token.text in ('continue', 'break') and self.word(i + 1) == ';':
                found += self._jump(i)
            elif token.kind == 'word' and self._starts_statement(i):
                found += self._call(i)
        found += self._chains()
        found.sort(key=lambda m: (m.at, m.kind))
        for ordinal, mutant in enumerate(found, 1):
            mutant.path, mutant.ordinal = self.path, ordinal
            self._show(mutant)
        return found

    def _operator(self, i):
        token = self.tokens[i]
        other, choice = RELATIONS[token.text]
        if token.text in TURNED and self._compares_alike(i):
            other, choice = TURNED[token.text]
        kind = 'sum' if token.text in '+-' else 'relation'
        return [Mutant(kind, token.start, [(token.start, token.end, other)],
                       [Edit(token.start, token.end, instead=f'{token.text} gw_mutants::{choice}{{{{{{n}}}}}} {token.text}')])]

    def _compares_alike(self, i):
        """`a.name < b.name`, an order: whether it holds for equals says nothing of things that differ."""
        size = 1
        while i - size > 0 and i + size < len(self.tokens):
            left = self.word(i - size)
            opened = left in ('(', '[', '{')
            if self.match[i - size] > i if opened else left in ENDS_AN_OPERAND | {'&&', '||', '!=', '=='}:
                break
            size += 1
        before = [self.word(j) for j in range(i - size + 1, i)]
        after = [self.word(j) for j in range(i + 1, i + size)]
        pairs = {(x, y) for x, y in zip(before, after) if x != y}
        body = self._around(i)
        of_lambda = {self.word(j) for j in range(self.match[body - 1], body)} if self.word(body - 1) == ')' else set()
        return size > 3 and len(pairs) == 1 and set(*pairs) <= of_lambda and self.word(i + size) in {',', ';', ')', ':', '&&', '||', '?'}

    def _compound(self, i):
        first = i
        while first > 0 and self.word(first - 1) not in (';', '{', '}', 'else'):
            if self.word(first - 1) in (')', ']'):
                if self.word(first - 1) == ')' and self._control(first - 1):
                    break
                first = self.match[first - 1]
            else:
                first -= 1
        if not self._starts_statement(first) or self.inside[i] != self.inside[first]:
            return []
        last = self._find(i, ';')
        token = self.tokens[i]
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        name = 'AddTo' if token.text == '+=' else 'TakeFrom'
        return [Mutant('sum', token.start, [(token.start, token.end, '-=' if token.text == '+=' else '+=')],
                       [Edit(start, end, f'gw_mutants::{name}({{n}}, ', ')', rank=0), Edit(token.start, token.end, instead=',')])]

    def _number(self, i):
        token = self.tokens[i]
        if not re.fullmatch(r"\d[\d']*", token.text) or (not self.in_code(i) and i not in self.constants):
            return []
        if self.word(i - 1) == '[' and self.word(i - 2) in NUMBER_TYPES:
            return []
        value = int(token.text.replace("'", ''))
        is_duration = self.word(i - 1) == '(' and self.word(i - 2) in DURATIONS and self.word(i + 1) == ')'
        if is_duration and value == 0:
            return []
        also = [Edit(self.tokens[self.constants[i]].start, self.tokens[self.constants[i]].end, instead='const')] if i in self.constants else []
        wanted = [value * 10] if is_duration else [value + 1] + ([value - 1] if value > 0 else [])
        return [Mutant('duration' if is_duration else 'constant', token.start, [(token.start, token.end, str(to))],
                       [Edit(token.start, token.end, f'(gw_mutants::On({{n}}) ? {to} : ', ')')] + also) for to in wanted]

    def _condition(self, i):
        opened = i + 1
        closed, first = self.match[opened], opened + 1
        inner = [j for j in range(first, closed) if self.inside[j] == opened]
        for j in inner:
            if self.word(j) == ';':
                first = j + 1
        inner = [j for j in inner if j >= first]
        signs = {self.word(j) for j in inner}
        if '=' in signs:
            return []
        alone = '&&' not in signs and '||' not in signs
        if alone and (self.word(first) == '!' or signs & {'==', '!='}):
            return []  # there is such a mutant already
        start, end = self.tokens[first].start, self.tokens[closed - 1].end
        return [Mutant('condition', start, [(start, start, '!('), (end, end, ')')],
                       [Edit(start, end, '(gw_mutants::On({n}) != static_cast<bool>(', '))', rank=0)])]

    def _early_return(self, i):
        around = self.inside[i]
        if around is None or self.word(around) != '{':
            return []
        end = self._find(i, ';')
        if self.word(i - 1) == ')' and self._control(i - 1) == 'if':
            after, outer = end + 1, around
        elif self.brace[around] == 'if' and self.word(around - 1) == ')' and self.word(i - 1) in (';', '{', '}'):
            after, outer = self.match[around] + 1, self._around(around)
        else:
            return []
        if self.word(after) == 'else' or (self.word(after) == '}' and self.brace.get(outer) not in LOOPS):
            return []
        start, stop = self.tokens[i].start, self.tokens[end].end
        return [Mutant('return', start, [(start, stop, '{}')], [Edit(start, stop, 'if (gw_mutants::On({n})) {{}} else ', '', rank=0)])]

    def _jump(self, i):
        token, around = self.tokens[i], self._loop_or_switch(i)
        if token.text == 'break' and around not in LOOPS:
            return []
        other = 'break' if token.text == 'continue' else 'continue'
        return [Mutant('jump', token.start, [(token.start, token.end, other)],
                       [Edit(token.start, token.end, f'if (gw_mutants::On({{n}})) {other}; else ', '', rank=0)])]

    def _call(self, i):
        j, called, words = i, False, []
        while True:
            word = self.word(j)
            if self.tokens[j].kind == 'word' if j < len(self.tokens) else False:
                if words and words[-1] not in ('::', '.', '->'):
                    return []
                words.append(word)
                called = False
                j += 1
            elif word in ('::', '.', '->'):
                words.append(word)
                j += 1
            elif word in ('(', '['):
                called = word == '('
                words.append(')')
                j = self.match[j] + 1
            elif word == '<' and not self._spaced(j):
                j = self._angle_end(j) + 1
            else:
                break
        names = set(words)
        if word != ';' or not called or names & (NO_STATEMENTS | UNSEEN_CALLS) or words[:2] == ['log', '::']:
            return []
        start, end = self.tokens[i].start, self.tokens[j].end
        return [Mutant('call', start, [(start, end, ';')], [Edit(start, end, 'if (gw_mutants::On({n})) {{}} else ', '', rank=0)])]

    def _case(self, i):
        colon, around = self._label_end(i), self._around(i)
        if self.brace.get(around) != 'switch':
            return []
        start, end = self.tokens[i].start, self.tokens[colon].end
        return [Mutant('case', start, [(start, end, '')], [Edit(end, end, ' if (gw_mutants::On({n})) break; ')])]

    # `a && b && c`: each of them left out, and all of them `||`.
    def _chains(self):
        seen, found = set(), []
        for i, token in enumerate(self.tokens):
            if token.text in ('&&', '||') and self.in_code(i) and self._is_binary(i):
                chain = self._chain(i)
                if chain not in seen:
                    seen.add(chain)
                    found += self._mutants_of_chain(token.text, chain)
        return found

    def _chain(self, i):
        sign, ends = self.word(i), ENDS_AN_OPERAND | ({'||'} if self.word(i) == '&&' else set())
        first, last, signs = i - 1, i + 1, [i]
        while first >= 0 and self.word(first) not in ends:
            if self.word(first) == '}' and self.brace[self.match[first]] != 'init' and self.word(first + 1) != '(':
                break
            if self.word(first) == sign:
                signs.append(first)
            first = self.match[first] - 1 if self.word(first) in PAIRS else first - 1
        ends = (ends - {'(', '[', '{'}) | {')', ']', '}'}
        while last < len(self.tokens) and self.word(last) not in ends:
            if self.word(last) == sign:
                signs.append(last)
            last = self.match[last] + 1 if self.word(last) in ('(', '[', '{') else last + 1
        return (first, *sorted(signs), last)

    def _mutants_of_chain(self, sign, chain):
        spans = [(self.tokens[a + 1].start, self.tokens[b - 1].end) for a, b in zip(chain, chain[1:])]
        rank = 1 if sign == '||' else 3
        other = '&&' if sign == '||' else '||'
        found = []
        for k, (start, end) in enumerate(spans):
            lost = (start, spans[k + 1][0]) if k + 1 < len(spans) else (spans[k - 1][1], end)
            before = '(gw_mutants::On({n}) || static_cast<bool>(' if sign == '&&' else '(!gw_mutants::On({n}) && static_cast<bool>('
            found.append(Mutant('operand', start, [(*lost, '')], [Edit(start, end, before, '))', rank=rank + 1)]))
        shown = [(self.tokens[j].start, self.tokens[j].end, other) for j in chain[1:-1]]
        flip = [Edit(start, end, '(gw_mutants::On({n}) != static_cast<bool>(', '))', rank=rank + 1) for start, end in spans]
        flip.append(Edit(spans[0][0], spans[-1][1], '(gw_mutants::On({n}) != (', '))', rank=rank))
        found.append(Mutant('chain', self.tokens[chain[1]].start, shown, flip))
        return found

    def _show(self, mutant):
        start = self.text.rfind('\n', 0, min(s for s, _, _ in mutant.shown)) + 1
        end = self.text.find('\n', max(e for _, e, _ in mutant.shown))
        after, at = '', start
        for s, e, text in sorted(mutant.shown):
            after += self.text[at:s] + text
            at = e
        after += self.text[at:end]
        mutant.before, mutant.after = ' '.join(self.text[start:end].split()), ' '.join(after.split())
        mutant.line = self.text.count('\n', 0, mutant.at) + 1


def rewrite(text, numbered):
    """The source with every mutant as a choice. `numbered`: (number, mutant)."""
    opened, closed, instead = {}, {}, {}
    order = 0
    for number, mutant in numbered:
        for edit in mutant.edits:
            order += 1
            if edit.instead is not None:
                instead[edit.start] = (edit.end, edit.instead.format(n=number))
                continue
            opened.setdefault(edit.start, []).append((edit.rank if edit.rank == 0 else 1, -edit.end, edit.rank, order, edit.before.format(n=number)))
            closed.setdefault(edit.end, []).append((-edit.start, -edit.rank, -order, edit.after))
    out, at = [], 0
    for position in sorted(set(opened) | set(closed) | set(instead)):
        if position > at:
            out.append(text[at:position])
            at = position
        out += [after for *_, after in sorted(closed.get(position, []))]
        out += [before for *_, before in sorted(opened.get(position, []))]
        if position in instead:
            at, replacement = instead[position]
            out.append(replacement)
    return ''.join(out) + text[at:]
