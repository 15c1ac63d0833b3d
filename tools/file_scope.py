"""The names that a C source has at file scope, and that source with others in their place."""

import re

TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r"|\.?\d(?:[eEpP][+-]|[\w.])*"
    r"|[A-Za-z_]\w*|->|\.\.\.|##|\\\n|\n|[^\S\n]+|.", re.S)
WORD = re.compile(r"[A-Za-z_]\w*\Z")
BETWEEN = re.compile(r"/[*/]|\s|\\\n")
PAIRS = {"(": ")", "[": "]", "{": "}"}
KINDS = ("struct", "union", "enum")
ASIDE = ("__attribute__", "__asm__", "_Alignas", "_Static_assert", "_Pragma", "AT_START", "HAFT_PRINTF", "NOINLINE", "HAFT_COLD")


def words(text):
    """The words of a text without its comments and strings."""
    return set(filter(WORD.match, TOKEN.findall(text)))


class Source:
    """The tokens of a source: `code` are the places of those outside of directives, `lines` those of
    each directive; comments and white space are in neither."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.code, self.lines = [], []
        self.tagged_places = self.tagged()
        line, fresh = None, True
        for at, token in enumerate(self.tokens):
            if token == "\n":
                line, fresh = None, True
            elif not BETWEEN.match(token):
                if token == "#" and fresh and line is None:
                    line = []
                    self.lines.append(line)
                (self.code if line is None else line).append(at)
                fresh = False

    def words(self, places):
        return [self.tokens[at] for at in places]

    def groups(self):
        """The code as a tree: places, and lists that begin and end with a pair's places."""
        top, open_ones = [], []
        now = top
        for at in self.code:
            token = self.tokens[at]
            if token in PAIRS:
                group = [at]
                now.append(group)
                open_ones.append(now)
                now = group
            else:
                now.append(at)
                if open_ones and token in PAIRS.values():
                    now = open_ones.pop()
        return top

    def word(self, item):
        return self.tokens[item] if isinstance(item, int) else self.tokens[item[0]]

    def is_name(self, item):
        return isinstance(item, int) and WORD.match(self.tokens[item]) is not None

    def declarations(self, items):
        """The declarations of a scope: each ends with ; or the braces of a function."""
        found = []
        for item in items:
            before = found[-1] if found else None
            found.append(item)
            is_body = self.word(item) == "{" and before is not None and self.word(before) == "("
            if self.word(item) == ";" or is_body:
                yield found
                found = []

    def declared(self, items):
        """The places of the names that a declaration declares, tags and constants aside."""
        items = [item for index, item in enumerate(items)
                 if self.word(item) not in ASIDE and not (index and self.word(items[index - 1]) in ASIDE)]
        after_value = False
        for index, item in enumerate(items[:-1]):
            behind = self.word(items[index + 1])
            before = self.word(items[index - 1]) if index else ""
            if self.word(item) in ("=", ":"):
                after_value = True
            elif self.word(item) == ",":
                after_value = False
            elif after_value or not index:
                continue
            elif self.is_name(item) and before not in KINDS and behind in (";", "=", "[", ",", ":"):
                yield item
            elif self.is_name(item) and behind == "(" and self.word(items[index + 2]) in (";", "{", ","):
                yield item
            elif not isinstance(item, int) and self.word(item) == "(" and behind == "(":
                if self.word(item[1]) == "*":
                    yield from [each for each in item[2:] if self.is_name(each)][-1:]

    def bodies(self, items=None):
        """(kind, items) of each struct, union and enum, at any depth."""
        items = self.groups() if items is None else items
        for index, item in enumerate(items):
            if isinstance(item, int):
                continue
            head = [self.word(each) for each in items[max(0, index - 2):index]]
            kind = [word for word in head if word in KINDS]
            if self.word(item) == "{" and kind and (head[-1] in KINDS or head[0] in KINDS):
                yield kind[-1], item[1:-1]
            yield from self.bodies(item[1:-1])

    def members(self):
        """The places where structs and unions name their members."""
        return {at for kind, items in self.bodies() if kind != "enum"
                for each in self.declarations(items) for at in self.declared([each[0], *each])}

    def constants(self):
        for kind, items in self.bodies():
            if kind == "enum":
                for before, item, behind in zip([None, *items], items, [*items[1:], None]):
                    is_list = behind is not None and self.word(behind) == "("
                    if self.is_name(item) and not is_list and (before is None or self.word(before) in (",", "(")):
                        yield self.tokens[item]

    def tagged(self):
        """The places of tags, wherever they stand."""
        stream = [at for at in range(len(self.tokens)) if not BETWEEN.match(self.tokens[at])]
        return {at for before, at in zip(stream, stream[1:]) if self.tokens[before] in KINDS and self.is_name(at)}

    def tags(self):
        """The tags that the source defines or announces."""
        for at, behind in zip(self.code, self.code[1:]):
            if at in self.tagged_places and self.tokens[behind] in ("{", ";"):
                yield self.tokens[at]

    def macros(self):
        """(name, parameters, places behind the name) of each #define."""
        for line in self.lines:
            words = self.words(line)
            if words[1:2] != ["define"]:
                continue
            takes = len(line) > 3 and words[3] == "(" and line[3] == line[2] + 1
            end = words.index(")") if takes else 2
            yield words[2], set(words[4:end]) if takes else set(), line[3:]

    def chains(self):
        """(parameters, places) of each name that a macro pastes together."""
        for _, parameters, body in self.macros():
            chain = []
            for at, behind in zip(body, [*body[1:], None]):
                pasted = behind is not None and self.tokens[behind] == "##"
                if self.tokens[at] == "##":
                    continue
                chain.append(at)
                if not pasted:
                    if len(chain) > 1:
                        yield parameters, chain
                    chain = []

    def pasted(self, is_kept):
        """The names in the source that its macros may paste together."""
        found = set(filter(WORD.match, self.tokens))
        names = set()
        for parameters, chain in self.chains():
            words = self.words(chain)
            if not is_kept(words[0]):
                made = re.compile("".join(r"\w+" if word in parameters else re.escape(word) for word in words))
                names.update(filter(made.fullmatch, found))
        return names

    def names(self, is_kept):
        """The names at file scope, those that are kept and tags aside."""
        names = {self.tokens[at] for each in self.declarations(self.groups()) for at in self.declared(each)}
        names.update(self.constants(), (name for name, _, _ in self.macros()), self.pasted(is_kept))
        return {name for name in names if not is_kept(name)}

    def _entries(self, parameters, body):
        """The places of what a macro gives one that it takes, as lists do: most become members."""
        depth = 0
        for before, at in zip([None, *body], body):
            if depth:
                depth += {"(": 1, ")": -1}.get(self.tokens[at], 0)
                yield at
            elif self.tokens[at] == "(" and before is not None and self.tokens[before] in parameters:
                depth = 1

    def _taken(self):
        """{macro: which of its parameters are names of members}."""
        taken = {"offsetof": {1}}
        for name, parameters, body in self.macros():
            order = [word for word in self.words(body) if word in parameters][:len(parameters)]
            members = set(self._given(body, {"offsetof": {1}}))
            members.update(at for before, at in zip(body, body[1:]) if self.tokens[before] in (".", "->"))
            found = {order.index(self.tokens[at]) for at in members if self.tokens[at] in parameters}
            if found:
                taken[name] = found
        return taken

    def _given(self, stream, taken):
        """The places of what macros are given where they take names of members."""
        for index, at in enumerate(stream[:-1]):
            if self.tokens[at] not in taken or self.tokens[stream[index + 1]] != "(":
                continue
            depth, turn = 0, 0
            for each in stream[index + 1:]:
                depth += {"(": 1, ")": -1}.get(self.tokens[each], 0)
                turn += self.tokens[each] == "," and depth == 1
                if depth == 0:
                    break
                if turn in taken[self.tokens[at]]:
                    yield each

    def _as_they_are(self):
        """The places of words that are no names at file scope: members, and what directives say."""
        places = self.members()
        for line in self.lines:
            if self.words(line)[1:2] and self.words(line)[1] in ("include", "pragma", "error"):
                places.update(line)
        for _, parameters, body in self.macros():
            places.update(at for at in body if self.tokens[at] in parameters)
            places.update(self._entries(parameters, body))
        stream = [at for at in range(len(self.tokens)) if not BETWEEN.match(self.tokens[at])]
        places.update(at for before, at in zip(stream, stream[1:]) if self.tokens[before] in (".", "->"))
        places.update(self._given(stream, self._taken()))
        return places

    def renamed(self, is_kept, prefix):
        """The text with the prefix before each name at file scope."""
        names = self.names(is_kept)
        tags = {tag for tag in self.tags() if not is_kept(tag)}
        kept = self._as_they_are()
        begins = {}  # the place where a chain begins -> what goes before it
        for parameters, chain in self.chains():
            kept.update(chain)
            if not is_kept(self.tokens[chain[0]]):
                begins[chain[0]] = prefix + ("##" if self.tokens[chain[0]] in parameters else "")
        changes = {at for at, token in enumerate(self.tokens) if at not in kept and
                   token in (tags if at in self.tagged_places else names)}
        return "".join(begins.get(at, "") + (prefix if at in changes else "") + token
                       for at, token in enumerate(self.tokens))
