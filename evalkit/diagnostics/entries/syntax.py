"""Codes of reading and parsing: E001 to E015."""

from __future__ import annotations

from evalkit.diagnostics.entries.entry import Entry, case, files

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "E001", "the file cannot be read, or has a name that cannot be shown",
        """Whatever ends in `.eval` below the folder of cases is read as a case file. What cannot be read would leave
        its cases out without a word.""",
        wrong=files("""
            === it.eval/notes.txt
            A folder's name ends in .eval.
            """),
        right=files("""
            === it/notes.txt
            A folder.
            """),
    ),
    Entry(
        "E002", "the file is larger than 1 MB, or holds more than 30,000 words and values",
        """A case file describes; it is small. The bounds keep every file quick to check. Put long texts and data into
        files beside the case file, and cases into several files.""",
        wrong=case('about "a"', times=10_001),
        right=case('about "a"'),
    ),
    Entry(
        "E003", "the file is not UTF-8, or holds a NUL character",
        "Case files are UTF-8, so that they mean the same everywhere. Save the file in that encoding.",
        wrong=case('about "Opens a café."', encoding="latin-1"),
        right=case('about "Opens a café."'),
    ),
    Entry(
        "E010", "an unknown keyword",
        """Every statement starts with a keyword, and each block has its own. The help names the nearest keyword, or
        those that can stand there.""",
        wrong=case('chekc run "make test"'),
        right=case('check run "make test"'),
    ),
    Entry(
        "E011", "a string, a text block or a regex that is not closed",
        """A quoted string and a regex end on their line. A text of several lines is a block between `\"\"\"`. A `/`
        within a regex is written `\\/`.""",
        wrong=case('''
            about "Opens a file and reads it
            '''),
        right=case('''
            about """
              Opens a file
              and reads it
              """
            '''),
    ),
    Entry(
        "E012", "something that cannot stand there, or a file that ends too early",
        """The statement was understood up to the marked place; the help lists what could follow. At the end of a file
        a `}` is missing, and the note shows the brace that is open.""",
        wrong=case("check run make"),
        right=case('check run "make"'),
    ),
    Entry(
        "E013", "an unknown escape in a string",
        r"""Strings have the escapes `\"` `\\` `\n` `\t` `\r` `\0` and `\u{1F600}`. A backslash is written `\\`; a
        pattern that needs many of them is better a regex, `/\d+/`, where they stay as they are.""",
        wrong=case(r'check grep "*.txt" has "\d+ cards"'),
        right=case(r'check grep "*.txt" has /\d+ cards/'),
    ),
    Entry(
        "E014", "a number, a duration, a name, a string or a regex beyond its bounds",
        "Values have bounds that no sensible case reaches, so that a slip is found here and not in a bill.",
        wrong=case("limits { time 900h }"),
        right=case("limits { time 15m }"),
    ),
    Entry(
        "E015", "a line of a text block with less indentation than the one that closes it",
        """A text block loses the indentation of the line that closes it. A line that has less would be changed in a
        way that nobody sees.""",
        wrong=case('''
            about """
                A board.
              With columns.
                """
            '''),
        right=case('''
            about """
              A board.
              With columns.
              """
            '''),
    ),
)
