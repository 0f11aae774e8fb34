"""Keys are taken out in every shape in which they are written."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UserError
from evalkit.execute.secret_finder import PROMISED
from evalkit.execute.secrets import KEY_VARIABLES, Redactor, key_values

KEY = 'sk-ant/"1+2"=ü\\3456789'
REDACTOR = Redactor.of({"ANTHROPIC_API_KEY": KEY, "UNRELATED": "harmless-value"})
SAID = "[ANTHROPIC_API_KEY redacted]"


@pytest.mark.parametrize("shape", [KEY, json.dumps(KEY)[1:-1], json.dumps(KEY, ensure_ascii=False)[1:-1],
                                   quote(KEY, safe="")])
def test_a_key_is_replaced_by_its_name(shape: str) -> None:
    """As it is, as JSON has it, as a URL has it."""
    assert f"before {SAID} after {SAID}" == REDACTOR.text(f"before {shape} after {shape}")


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), url=st.booleans())
def test_a_key_within_base64(before: bytes, after: bytes, url: bool) -> None:
    """At whatever offset it begins, whatever surrounds it, in both alphabets; at most its ends' shared digits stay."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    cleaned = REDACTOR.clean(encode(before + KEY.encode() + after)).decode()
    assert SAID in cleaned
    assert len(cleaned) - len(SAID) <= len(encode(before + after)) + 8


def test_other_texts_are_left_alone() -> None:
    """Short values are no keys, unknown variables are not ours, an empty one is none."""
    redactor = Redactor.of({"OPENAI_API_KEY": "test", "GEMINI_API_KEY": "", "VERCEL_TOKEN": "   ", "HOME": "/home/me"})
    text = "test /home/me [] \x00"
    assert text == redactor.text(text)
    assert () == redactor.replacements


def test_blanks_around_a_value_are_no_part_of_it() -> None:
    """A key that was exported with a line end is found without it."""
    assert "[VERCEL_TOKEN redacted]" == Redactor.of({"VERCEL_TOKEN": " abcdefgh\n"}).text("abcdefgh")


def test_a_key_within_another() -> None:
    """The longer one goes first: no end of it stays behind."""
    redactor = Redactor.of({"AI_GATEWAY_API_KEY": "abcdefgh", "OPENAI_API_KEY": "abcdefgh-and-more"})
    assert "[OPENAI_API_KEY redacted] [AI_GATEWAY_API_KEY redacted]" == redactor.text("abcdefgh-and-more abcdefgh")


def test_one_key_under_two_names() -> None:
    """The first name is told."""
    redactor = Redactor.of(dict.fromkeys(reversed(KEY_VARIABLES), "the-same-key"))
    assert f"[{KEY_VARIABLES[0]} redacted]" == redactor.text("the-same-key")


def test_a_text_that_cannot_be_encoded() -> None:
    """Half a surrogate pair, as a cut text of a program's has it, becomes something that can be written."""
    assert f"\ufffd\ufffd\ufffd {SAID}" == REDACTOR.text(f"\ud800 {KEY}")


def test_the_repr_shows_no_key() -> None:
    """Whoever prints what holds a redactor prints no key."""
    assert "sk-ant" not in repr(REDACTOR)


# ---- which variables hold keys ----
@pytest.mark.parametrize(("name", "value", "counts"), [
    ("ANTHROPIC_API_KEY", "eightchr", True),  # known for what it is: 8 characters are enough
    ("ANTHROPIC_API_KEY", "seven77", False),
    ("MISTRAL_API_KEY", "x7Hd92ksPq0aLm", True),
    ("CI_JOB_TOKEN", "glcbt-64_x7Hd92ksPq0", True),
    ("db_password", "Tr0ub4dor-and-3", True),
    ("MY_SECRET", "aLongOneWithoutAnyDigit", True),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", True),
    ("POSTGRES_PASSWORD", "postgres", False),  # a word: every text has it
    ("SOME_TOKEN", "correcthorsebattery", False),
    ("SSH_PRIVATE_KEY", "/home/me/.ssh/id_ed25519_2", False),
    ("FONT_TOKEN", "https://host/token/1234567", False),
    ("SOME_PASSWORD", "what is it, number 17?", False),
    ("ZERO_SECRET", "000000000000000", False),
    ("COLORTERM", "x7Hd92ksPq0aLm", False),
    ("MAX_TOKENS", "x7Hd92ksPq0aLm", False),
    ("KEYBOARD", "x7Hd92ksPq0aLm", False),
])
def test_values_that_are_keys(name: str, value: str, counts: bool) -> None:
    """By the variable's name, and where that is a guess, by what the value looks like too."""
    assert ({name: value} if counts else {}) == key_values({name: value})


def test_a_variable_that_the_project_calls_secret() -> None:
    """Its value counts as that of a known one does."""
    assert "[STAGE redacted] stays" == Redactor.of({"STAGE": "word-of-mine"}, ["STAGE"]).text("word-of-mine stays")


def test_a_password_within_an_address() -> None:
    """Of `scheme://user:password@host` the password is a key, in whatever variable."""
    redactor = Redactor.of({"DATABASE_URL": "postgres://me:x7Hd92ksPq0aLm@db/app", "CACHE_URL": "redis://a:cache@b"})
    assert "-p [DATABASE_URL password redacted] cache" == redactor.text("-p x7Hd92ksPq0aLm cache")


# ---- forms ----
LONG = "sk-ant-api03-" + "w5Xk1Bn8Qc3Mz7Gd2Rv6Ty9Lh4Pf0Js_oA-iUeKtZxW" * 2
LONG_REDACTOR = Redactor.of({"ANTHROPIC_API_KEY": LONG})


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


FORMS: dict[str, Callable[[str], str]] = {
    "json in json": lambda key: in_json(in_json(key)),
    "json in json in json": lambda key: in_json(in_json(in_json(key))),
    "slashes escaped": lambda key: in_json(key).replace("/", "\\/"),
    "html": html.escape,
    "shell": lambda key: key.replace("'", "'\\''"),
    "url": lambda key: quote(key, safe=""),
    "url, small hex digits": lambda key: re.sub(r"%..", lambda found: found[0].lower(), quote(key, safe="")),
    "url twice": lambda key: quote(quote(key, safe=""), safe=""),
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", [KEY, LONG, "a'<b>&\"c\"/d=e+f 1?"])
def test_forms_of_a_value(form: str, key: str) -> None:
    """Nothing but the name is left, wherever it stands."""
    redactor = Redactor.of({"OPENAI_API_KEY": key})
    assert "<[OPENAI_API_KEY redacted]>" == redactor.text(f"<{FORMS[form](key)}>")


@pytest.mark.parametrize("fold", [60, 64, 76])
@pytest.mark.parametrize("encode", [base64.b64encode, lambda data: data.hex().encode()])
def test_folded_lines(fold: int, encode: Callable[[bytes], bytes]) -> None:
    """`base64` and `xxd -p` fold: less than a promised run of each line may stay."""
    coded = encode(LONG.encode() + b"\n").decode()
    for newline in ("\n", "\\n"):
        cleaned = LONG_REDACTOR.text(newline.join(coded[at : at + fold] for at in range(0, len(coded), fold)))
        assert not shared_run(cleaned, coded, PROMISED)


@given(cut=st.integers(1, len(LONG) - 1), between=st.text(max_size=3))
def test_a_value_in_two_parts(cut: int, between: str) -> None:
    """As two deltas or two lines have it: of both parts less than a promised run stays."""
    parts = [LONG_REDACTOR.text(LONG[:cut] + between), LONG_REDACTOR.text(between + LONG[cut:])]
    secret = LONG.removeprefix("sk-ant-api03-")  # all keys of the kind begin so
    assert not any(shared_run(part, secret, PROMISED) for part in parts)


def shared_run(text: str, other: str, size: int) -> bool:
    """Whether a run of so many characters of one is in the other."""
    return any(other[at : at + size] in text for at in range(len(other) - size + 1))


@given(before=st.text(max_size=6), after=st.text(max_size=6), key=st.sampled_from([KEY, LONG, "a\\u1b\"c\\d\\\\e1"]))
def test_json_stays_json(before: str, after: str, key: str) -> None:
    """No escape is cut in two, whatever stands around the key."""
    redactor = Redactor.of({"OPENAI_API_KEY": key})
    for text in (before + key + after, before + key[3:] + after, before + key[:-3] + after):
        json.loads(redactor.text(json.dumps({"text": text, "inner": json.dumps(text)})))


@given(data=st.binary(max_size=300))
def test_data_without_keys_are_left_alone(data: bytes) -> None:
    """The very bytes come back."""
    assert data == LONG_REDACTOR.clean(data)


def test_what_a_value_begins_with_is_no_secret() -> None:
    """All keys of a kind begin alike: documentation that says so is left alone."""
    text = "keys begin with sk-ant-api03- and c2stYW50LWFwaTAz in base64"
    assert text == LONG_REDACTOR.text(text)


# ---- shapes ----
DIGITS = "q7Zr2Lx9Vb4Ny8Kd1Wm6Tc3Hf5Jg0PsaEuIoYtRw"
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{DIGITS}"


@pytest.mark.parametrize(("text", "said"), [
    (f"key sk-ant-api03-{DIGITS}.", "key [Anthropic key redacted]."),
    (f"sk-{DIGITS}", "[API key redacted]"),
    (f"sk-proj-{DIGITS}-{DIGITS}", "[API key redacted]"),
    (f"vck_{DIGITS}", "[Vercel key redacted]"),
    (f"x=AIza{DIGITS[:35]}&", "x=[Google key redacted]&"),
    (f"ghp_{DIGITS[:36]}", "[GitHub token redacted]"),
    (f"github_pat_{DIGITS}_{DIGITS}", "[GitHub token redacted]"),
    (f"glpat-{DIGITS[:20]}", "[GitLab token redacted]"),
    (f"_authToken=npm_{DIGITS[:36]}", "_authToken=[npm token redacted]"),
    (f"xoxb-1234567890-{DIGITS}", "[Slack token redacted]"),
    ("AKIAQ7ZR2LXV4NYKD3WM", "[AWS key redacted]"),
    (f'"aws_secret_access_key": "{DIGITS[:38]}/+"', '"aws_secret_access_key": "[AWS secret redacted]"'),
    (f"see {JWT} there", "see [JWT redacted] there"),
    (f"curl -H 'Authorization: Bearer {DIGITS}'", "curl -H 'Authorization: Bearer [token redacted]'"),
    (f"authorization: Basic {DIGITS}==", "authorization: Basic [token redacted]"),
    (f'"x-api-key": "{DIGITS}"', '"x-api-key": "[token redacted]"'),
    (json.dumps(json.dumps({"Authorization": f"Bearer {DIGITS}"})),
     json.dumps(json.dumps({"Authorization": "Bearer [token redacted]"}))),
    (f"\\nsk-{DIGITS}\\n", "\\n[API key redacted]\\n"),
    (f"?key%3Dsk-{DIGITS}", "?key%3D[API key redacted]"),
])
def test_keys_of_nobodys_variable(text: str, said: str) -> None:
    """A kind with a prefix of its own, and what headers carry."""
    assert said == Redactor.of({}).text(text)


@pytest.mark.parametrize("text", [
    "commit 3f2a9c1e7b5d4f6a8c0e2b4d6f8a1c3e5d7b9f0a",
    '"integrity": "sha512-q7Zr2Lx9Vb4Ny8Kd1Wm6Tc3Hf5Jg0PsaEuIoYtRwq7Zr2Lx9Vb4Ny8Kd1Wm6Tc3Hf5Jg0PsaEuIoYtRwAIza=="',
    "data:image/png;base64," + base64.b64encode(hashlib.sha512(b"an image").digest() * 40).decode(),
    "id 123e4567-e89b-12d3-a456-426614174000",
    ".sk-folding-cube-animation-2 { } .sk-circle-fade-dot-1234567890123",
    "task-0123456789abcdef0123456789 disk-by-uuid-0123456789012345678901",
    "Bearer YOUR_TOKEN_COMES_HERE, Bearer ${token}, bearer authentication",
    "authorization: config.auth0.token.value, x-api-key: process.env.KEY_2_OF_MANY",
    'headers["authorization"] = makeAuthorization2TokenFor(user)',
    "npm_config_registry_of_mine_is_a_long_name_0123456789",
    "xoxo, xoxb-names-of-bots-in-a-chat", "AKIA is a prefix; AIza as well; ghp_ and github_pat_ too",
    "eyJhbGciOiJIUzI1NiJ9 is a header", "sk-ant-api03-…, sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
])
def test_what_looks_like_a_key_and_is_none(text: str) -> None:
    """Digests, images, class names, placeholders, code."""
    assert text == Redactor.of({}).text(text)


# ---- private keys ----
def _pem(kind: str, size: int = 1200, *, headers: str = "", width: int = 64) -> str:
    """A made-up file of PEM."""
    body = base64.b64encode(hashlib.shake_256(kind.encode()).digest(size)).decode()
    lines = "\n".join(body[at:at + width] for at in range(0, len(body), width))
    return f"-----BEGIN {kind}-----\n{headers}{lines}\n-----END {kind}-----\n"


PRIVATE = {
    "PKCS 8": _pem("PRIVATE KEY"), "RSA": _pem("RSA PRIVATE KEY"), "a short one": _pem("EC PRIVATE KEY", 118),
    "Ed25519": _pem("PRIVATE KEY", 48), "OpenSSH": _pem("OPENSSH PRIVATE KEY", 1900, width=70),
    "encrypted": _pem("ENCRYPTED PRIVATE KEY"),
    "with headers": _pem("RSA PRIVATE KEY",
                         headers="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C3D4E5F6071\n\n"),
    "PGP": _pem("PGP PRIVATE KEY BLOCK", headers="Version: GnuPG v2\n\n"),
    "in one line": _pem("PRIVATE KEY", width=10_000),
    "PuTTY": "Private-Lines: 14\n"
             + _pem("X", 800).split("-----\n", 1)[1].replace("\n-----END X-----", "\nPrivate-MAC: 0a"),
}
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text, "CRLF": lambda text: text.replace("\n", "\r\n"), "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps({"a": text})),
    "indented": lambda text: "".join(f"    {line}\n" for line in text.splitlines()),
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "code": lambda text: " +\n".join(f'  "{line}\\n"' for line in text.splitlines()),
    "a list": lambda text: ",\n".join(f'  "{line}"' for line in text.splitlines()),
}


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("kind", PRIVATE)
def test_private_keys(kind: str, how: str) -> None:
    """Nothing of one is left, whatever it is written in; what JSON was is JSON still. Twice is once."""
    text = f"before {WRITTEN[how](PRIVATE[kind])} after"
    clean = Redactor.of({}).text(text)
    assert "[private key redacted]" in clean
    body = [line for line in PRIVATE[kind].splitlines() if len(line) > 4 and "-" not in line and ":" not in line]
    assert body
    assert not [line for line in body if line in clean]
    assert (clean[:7], clean[-6:]) == ("before ", " after")
    assert Redactor.of({}).text(clean) == clean
    if how.startswith("JSON"):
        json.loads(clean[7:-6])


def test_a_private_key_that_is_cut() -> None:
    """As `head -5` prints it."""
    clean = Redactor.of({}).text("\n".join(PRIVATE["RSA"].splitlines()[:5]) + "\n[exit 0]")
    assert clean == "-----BEGIN RSA PRIVATE KEY-----\n[private key redacted]\n[exit 0]"


@pytest.mark.parametrize("text", [
    _pem("CERTIFICATE"), _pem("PUBLIC KEY"), _pem("RSA PUBLIC KEY"), _pem("CERTIFICATE REQUEST"), _pem("X509 CRL"),
    _pem("PGP PUBLIC KEY BLOCK"), _pem("PGP SIGNATURE", 90), _pem("DH PARAMETERS"), _pem("SSH2 PUBLIC KEY"),
    "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "grep -l 'BEGIN RSA PRIVATE KEY' *",
    "-----BEGIN PRIVATE KEY-----\nYOUR_KEY\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...",
    "/-----BEGIN (?:RSA )?PRIVATE KEY-----[\\s\\S]+?-----END (?:RSA )?PRIVATE KEY-----/",
    "if (text.includes('-----BEGIN PRIVATE KEY-----')) { throw new Error('keys do not belong into a repository') }",
    "Private-Lines: they are those of nobody else",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJq7Zr2Lx9Vb4Ny8Kd1Wm6Tc3Hf5Jg0Ps",
])
@pytest.mark.parametrize("how", WRITTEN)
def test_what_looks_like_a_private_key_and_is_none(text: str, how: str) -> None:
    """Public keys, certificates, placeholders, code that looks for one."""
    assert WRITTEN[how](text) == Redactor.of({}).text(WRITTEN[how](text))


def test_a_private_key_of_the_workspace_stays_however_it_is_written() -> None:
    """A test's fixture is the agent's work, in the tree and in its transcript."""
    redactor = Redactor.of({}).sparing(lambda: [PRIVATE["RSA"].encode()])
    for written in WRITTEN.values():
        assert written(PRIVATE["RSA"]) == redactor.text(written(PRIVATE["RSA"]))
    assert "[private key redacted]" in redactor.text(json.dumps(PRIVATE["PKCS 8"]))


def test_what_was_there_before_is_no_key_of_ours() -> None:
    """A made-up key of the workspace stays in the tree that is graded; another one does not, nor a person's own."""
    redactor = Redactor.of({"OPENAI_API_KEY": LONG}).sparing(lambda: [b"const key = 'vck_" + JWT[-30:].encode()])
    assert f"vck_{JWT[-30:]} [Vercel key redacted] [OPENAI_API_KEY redacted]" == redactor.text(
        f"vck_{JWT[-30:]} vck_1{JWT[-30:]} {LONG}")


def test_plain_data_and_errors() -> None:
    """Every text in them, names too; numbers stay."""
    assert {"a": [1, None, {"[ANTHROPIC_API_KEY redacted]": "x[ANTHROPIC_API_KEY redacted]"}]} == \
        LONG_REDACTOR.plain_data({"a": (1, None, {LONG: f"x{LONG}"})})
    error = LONG_REDACTOR.error(UserError(f"no {LONG}", hint=LONG))
    assert "no [ANTHROPIC_API_KEY redacted]\n  [ANTHROPIC_API_KEY redacted]" == str(error)
    assert LONG not in repr(error)
