"""Codes of the linter: E080 and on, and all warnings."""

from __future__ import annotations

from evalkit.diagnostics.entries.entry import Entry, case, file, files

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "E080", "a profile that no case uses",
        """A profile that no case comes to, by `use` or by `extends`, is never tried, so it rots. A suite without cases
        is one that is being begun: nothing is said of it.""",
        wrong=files('''
            === suite.eval
            suite apps {
              profile app   { scaffold copy "skeleton" }
              profile other { scaffold copy "skeleton" }
            }
            '''),
        right=files('''
            === suite.eval
            suite apps {
              profile base { scaffold copy "skeleton" }
              profile app extends base { limits { turns 40 } }
            }
            '''),
    ),
    Entry(
        "E081", "a command that the registry does not have",
        """The registry of agent `tools` says which commands the application has. One that it does not know is called
        by nobody, so that an `expect` can never pass and a `never` never fails.""",
        wrong=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_e081:commands" }
            }
            === it.eval
            case elevation "Color by elevation" { expect setColourMode(mode: "elevation") }
            === app_e081.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
        right=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_r081:commands" }
            }
            === it.eval
            case elevation "Color by elevation" { expect setColorMode(mode: "elevation") }
            === app_r081.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
    ),
    Entry(
        "E082", "an argument that does not fit the schema of its command",
        """The JSON Schema of the command has no such argument, or no value that it takes can pass the test, or all
        tests of the argument together. `exact` lists all arguments that the command requires; `confirmed` is for a
        command that takes `confirm`. Only arguments that are named are looked at.""",
        wrong=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_e082:commands" }
            }
            === it.eval
            case elevation "Color by elevation" { expect setColorMode(mode: "height") }
            === app_e082.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
        right=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_r082:commands" }
            }
            === it.eval
            case elevation "Color by elevation" { expect setColorMode(mode one of "elevation", "intensity") }
            === app_r082.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
    ),
    Entry(
        "E083", "a tier that the schemas contradict",
        """A tier says what its cases need. `requires schema flat`: no expected command takes lists or objects.
        `requires read`: each of them says that it only reads, in its schema by `annotations: {readOnlyHint: true}`.
        `requires confirmation`: one that is expected or forbidden says that it needs one, by `annotations:
        {destructiveHint: true}`. `requires one of NAME, …`: one of these commands is expected.""",
        wrong=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_e083:commands" }
              tier flat "one command with flat arguments" requires schema flat
            }
            === it.eval
            case elevation flat "Color by elevation" { expect setSection }
            === app_e083.py
            commands = {"setSection": {"properties": {"box": {"type": "array"}}}}
            '''),
        right=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_r083:commands" }
              tier flat "one command with flat arguments" requires schema flat
            }
            === it.eval
            case elevation flat "Color by elevation" { expect setColorMode }
            === app_r083.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
    ),
    Entry(
        "E084", "a registry that cannot be loaded",
        """`registry "package.module:name"` names a mapping of command names to JSON Schemas, or to tool definitions
        that hold one as `parameters`, `inputSchema` or `input_schema`; or a list of tool definitions, each with its
        `name`; or an object that has one of these as `commands`. A schema or a definition may have `annotations` with
        `readOnlyHint` and `destructiveHint`. Anything else cannot be understood. The object is imported by a Python of
        its own, with a time limit; modules are looked for in the suite's folder, in the project's, and among what is
        installed. `registry mcp "COMMAND"` starts an MCP server, in the suite's folder, and asks it for its tools; that
        needs the package `mcp` (`pip install 'evalkit[mcp]'`).""",
        wrong=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_e084:comands" }
            }
            === it.eval
            case elevation "Color by elevation" { expect setColorMode(mode: "elevation") }
            === app_e084.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
        right=files('''
            === suite.eval
            suite viewer {
              agent tools { registry "app_r084:commands" }
            }
            === it.eval
            case elevation "Color by elevation" { expect setColorMode(mode: "elevation") }
            === app_r084.py
            commands = {"setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}}}
            '''),
    ),
    Entry(
        "W001", "a prompt that contains what one of the case's greps looks for",
        """An agent that is told what is looked for proves nothing by writing it. Ask for the behaviour, and look for
        what only a right answer has. Where the task itself pins a name, say so with `allow`. Texts of fewer than
        four characters do not count; of a regex those parts count that every match contains, and all of them must
        be in the prompt.""",
        wrong=case('''
            prompt """
              Render the cards with a for-each loop.
              """
            check grep "src/*.ts" has "for-each"
            '''),
        right=case('''
            prompt """
              Export the function as moveCard: other programs call it.
              """
            check grep "src/*.ts" has "moveCard" allow W001 "the task pins this name"
            '''),
    ),
    Entry(
        "W002", "a grep that says the same of every answer",
        """The results of `agent=nop` show it, where there are any: a `has` that passes on the untouched scaffold
        passes for an agent that does nothing, and globs that match no file of the scaffold or the solution can be
        met by nobody.""",
        wrong=files('''
            === it/it.eval
            case it {
              use app
              prompt """Write a board."""
              check grep "*.txt" has "note" as notes
              solution "solution"
              wrong "wrong/empty" fails notes
            }
            === it/solution/board.txt
            A note.
            === it/wrong/empty/board.txt
            Nothing.
            === /results/prove/nop/it/trial-1/result.json
            {"case": "it", "checks": [{"id": "notes", "verdict": {
              "status": "pass", "summary": "found in *.txt", "evidence": "\\"note\\": main.txt:1: A note."}}]}
            '''),
        right=files('''
            === it/it.eval
            case it {
              use app
              prompt """Write a board."""
              check grep "*.txt" has "board" allow W001 "the word is the task" as board
              solution "solution"
              wrong "wrong/empty" fails board
            }
            === it/solution/board.txt
            A board.
            === it/wrong/empty/board.txt
            Nothing.
            === /results/prove/nop/it/trial-1/result.json
            {"case": "it", "checks": [{"id": "board", "verdict": {
              "status": "fail", "summary": "1 of 1 not found: *.txt", "evidence": "\\"board\\": not found in 1 file"}}]}
            '''),
    ),
    Entry(
        "W003", "a judge that is given no file",
        """Its globs match nothing in the folders that the case has: scaffold, starter, solution. A judge that reads
        nothing gives a score for nothing. What a scaffold command makes is not known; such a case is looked at
        where it has a solution.""",
        wrong=case('''
            judge "quality" {
              files "source/*.ts"
              criterion "It is short."
            }
            '''),
        right=case('''
            judge "quality" {
              files "*.txt"
              criterion "It is short."
            }
            '''),
    ),
    Entry(
        "W004", "a skill whose SKILL.md has a broken front matter",
        """Agents learn of a skill by the name and the description at the head of its SKILL.md, which is YAML between
        two lines `---`; one that they cannot read is passed over without a word. The usual slip is a description
        with `: ` in it that is not quoted. With the extra `[skills]` the reference validator of the Agent Skills
        specification is asked too.""",
        wrong=files('''
            === it.eval
            case it {
              use app
              prompt """Write a board."""
              skills writing from "skills"
              check run "make test" as tests
              solution "solution"
              wrong "wrong/one" fails tests
            }
            === skills/writing/SKILL.md
            ---
            name: writing
            description: Use this skill when: a text is to be written
            ---
            Be brief.
            '''),
        right=files('''
            === it.eval
            case it {
              use app
              prompt """Write a board."""
              skills writing from "skills"
              check run "make test" as tests
              solution "solution"
              wrong "wrong/one" fails tests
            }
            === skills/writing/SKILL.md
            ---
            name: writing
            description: "Use this skill when: a text is to be written"
            ---
            Be brief.
            '''),
    ),
    Entry(
        "W005", "a file in a case's folder that nothing names",
        """It was forgotten when something changed, or the statement that should name it was. Hidden files, README
        files and the folder of a suite are left alone.""",
        wrong=files('''
            === it/it.eval
            case it {
              use app
              prompt """Write a board."""
              check run "make test" as tests
              solution "solution"
              wrong "wrong/one" fails tests
            }
            === it/solution/board.txt
            A board.
            === it/wrong/one/board.txt
            Nothing.
            === it/wrong/two/board.txt
            Half a board.
            '''),
        right=files('''
            === it/it.eval
            case it {
              use app
              prompt """Write a board."""
              check run "make test" as tests
              solution "solution"
              wrong "wrong/one" fails tests
              wrong "wrong/two" fails tests
            }
            === it/solution/board.txt
            A board.
            === it/wrong/one/board.txt
            Nothing.
            === it/wrong/two/board.txt
            Half a board.
            '''),
    ),
    Entry(
        "W006", "a check of the suite's own that no case asks for",
        "What is never run rots. Ask for it in a case or in a profile that a case uses, or delete it.",
        wrong=files('''
            === suite.eval
            suite apps {
              profile app { scaffold copy "skeleton" }
              define check tidy { run "make lint" }
            }
            '''),
        right=files('''
            === suite.eval
            suite apps {
              profile app { scaffold copy "skeleton"; check tidy }
              define check tidy { run "make lint" }
            }
            '''),
    ),
    Entry(
        "W007", "an `allow` that silences nothing",
        """What it silenced is gone. Left there, it would hide the next finding of its kind, which nobody has judged.
        Rules that look at results or at other programs (W002, W004) do not count: what they find differs between
        machines.""",
        wrong=case('check grep "*.txt" has "board" allow W001 "the task pins this name"'),
        right=case('check grep "*.txt" has "board"'),
    ),
    Entry(
        "W008", "a case without a reference answer, or without a wrong one",
        """A case proves itself by two answers: a right one that its checks accept and a wrong one that they reject.
        Without them nothing shows that it measures what it says. Cases that look at nothing but the commands that
        were called have neither.""",
        wrong=file('''
            case hello {
              use app
              prompt """Write a greeting into hello.txt."""
              check run "test -s hello.txt" as written
            }
            '''),
        right=file('''
            case hello {
              use app
              prompt """Write a greeting into hello.txt."""
              check run "test -s hello.txt" as written
              solution "solution"
              wrong "wrong/empty" fails written
            }
            '''),
    ),
    Entry(
        "W009", "a `check snapshot` of a case without a `live` block",
        """Nothing says how the app is built, started and looked at. So the check is skipped in every run and lane,
        and no answer fails by it. What `live` holds is in docs/language.md.""",
        wrong=case('check snapshot has "Card A"'),
        right=case('''
            live { launch "out/app"; snapshot "drive snapshot" }
            check snapshot has "Card A"
            '''),
    ),
    Entry(
        "W010", "a case of which no check decides",
        """A check that is `advisory` is told and decides nothing; so are a score and a judge that do not say from where
        on they pass (`pass at`). Where a case, or one of its tracks or arms, has no other, each of its trials is in
        error (status 3), as nothing was graded. Where scores are all that is wanted (`evalkit arms`), silence it.""",
        wrong=file('''
            case hello {
              use app
              prompt """Answer with a program that prints a greeting."""
              answer "main.js"
              score code as code { forbid /eval/ }
              solution "solution"
              wrong "wrong/empty" fails code
            }
            '''),
        right=file('''
            case hello {
              use app
              prompt """Answer with a program that prints a greeting."""
              answer "main.js"
              score code as code { forbid /eval/; pass at 0.8 }
              solution "solution"
              wrong "wrong/empty" fails code
            }
            '''),
    ),
)
