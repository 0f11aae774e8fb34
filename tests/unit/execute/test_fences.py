"""Which part of a reply is the answer."""

from __future__ import annotations

import pytest

from evalkit.execute.agents.fences import Answer, answer_in


def answer(reply: str, file: str = "main.js") -> str:
    return answer_in(reply, file).text


def test_one_block_is_the_answer() -> None:
    """What stands around it is not; nothing is odd about it."""
    reply = "Here:\n\n```js\nlet a = 1;\n\nlet b;\n```\n\nDone."
    assert Answer("let a = 1;\n\nlet b;\n") == answer_in(reply, "main.js")


@pytest.mark.parametrize("opening", ["```", "```js", "``` javascript ", "```JavaScript", "````js", "~~~", "~~~js title",
                                     "   ```js", '```js title="x"', "```ts"])
def test_ways_to_open_a_block(opening: str) -> None:
    """Backticks or tildes, three or more, with and without a language, indented by up to three columns."""
    fence = opening.strip()[:4] if opening.startswith("````") else opening.strip()[:3]
    assert "a\n" == answer(f"{opening}\na\n{fence}\n")


@pytest.mark.parametrize("text", ["``js\na\n``", "```js `x`\na", "> text"])
def test_what_opens_none(text: str) -> None:
    """Two backticks are too few; an opening line of backticks holds no other one; a quotation is text."""
    assert "the reply has no code block: all of it is the answer" in answer_in(text, "main.js").notes


def test_a_reply_without_a_block() -> None:
    """It is the answer itself: who is asked for a file alone may send it so."""
    assert Answer("let a;\n", ("the reply has no code block: all of it is the answer",)) == answer_in(
        "\n  let a;\n\n", "main.js")


@pytest.mark.parametrize("reply", ["", " \n ", "```js\n```", "```js\n\n \n```\n", "```js"])
def test_a_reply_without_an_answer(reply: str) -> None:
    """Nothing, or blocks with nothing in them."""
    assert Answer("", ("the reply holds no answer",)) == answer_in(reply, "main.js")


def test_a_block_that_is_not_closed() -> None:
    """A reply that was cut, or a fence that was forgotten: it goes on to the end."""
    assert Answer("a\nb\n", ("the answer's code block is not closed",)) == answer_in("```js\na\nb", "main.js")
    assert "a\n```js\n" == answer("````js\na\n```js\n")
    assert "a\n~~~\n" == answer("```js\na\n~~~\n")


def test_a_block_in_a_block() -> None:
    """A longer fence holds shorter ones, another kind of fence too; of equal ones the first inner one closes."""
    assert "# A\n```js\na\n```\n" == answer("````md\n# A\n```js\na\n```\n````", "a.md")
    assert "# A\n```js\na\n```\n" == answer("~~~md\n# A\n```js\na\n```\n~~~", "a.md")
    assert "# A\n" == answer("```md\n# A\n```\na\n```", "a.md")


def test_a_fence_with_words_closes_nothing() -> None:
    """It is a line of the block."""
    assert "a\n```js\nb\n" == answer("```js\na\n```js\nb\n```")


def test_the_block_that_names_the_file() -> None:
    """It is the answer, whatever its length and language."""
    for named in ("```js main.js", '```js title="main.js"', "```main.js", "```text {main.js}", "```js:main.js"):
        assert "a\n" == answer(f"```js\nlonger than that\n```\n{named}\na\n```")
    assert "a\n" == answer("```js\nlonger\n```\n```js src/app.js\na\n```", "src/app.js")


def test_the_block_in_the_files_language() -> None:
    """Before one without a language, and that before any other."""
    reply = "```sh\nnpm install everything\n```\n```\nplain text\n```\n```javascript\na\n```"
    assert Answer("a\n", ("block 3 of 3 is the answer",)) == answer_in(reply, "main.js")
    assert "plain text\n" == answer(reply, "main.zig")
    assert "npm install everything\n" == answer("```sh\nnpm install everything\n```\n```python\na\n```", "main.zig")


def test_the_longest_of_several() -> None:
    """Parts that are explained are shorter than the file; of equally long ones it is the first."""
    assert "let a = 1;\n" == answer("```js\nlet a\n```\n```js\nlet a = 1;\n```\n```js\na = 2\n```")
    assert "aaa\n" == answer("```js\naaa\n```\n```js\nbbb\n```")
    assert "a\n" == answer("```js\n\n```\n```js\na\n```")


def test_indents_and_line_ends() -> None:
    """A block's lines lose the indent of its fence, and no more; all lines end alike."""
    assert "a\n  b\nc\n" == answer("  ```js\r\n  a\r\n    b\r\n c\r\n  ```\r\n")
    assert "a\n  b\n" == answer("1. So:\n\n     ```js\n     a\n       b\n     ```\n2. Done.")
    assert "a\n    ```\nb\n" == answer("```md\na\n    ```\nb\n```", "a.md")


def test_a_file_of_an_unknown_kind() -> None:
    """A language is then one that is called as the file's ending."""
    assert "a\n" == answer("```js\nlonger\n```\n```xyz\na\n```", "main.xyz")
    assert "longer\n" == answer("```js\nlonger\n```\n```sh\na\n```", "Makefile")
