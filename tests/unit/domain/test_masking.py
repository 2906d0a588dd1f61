"""What of a question must be masked before it is kept, and what must not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.masking import masked

# Made up; written in parts, so that nobody who looks for keys finds one here.
RSK = "rsk_" + "0123456789ab_" + "A" * 43
OPENAI = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GOOGLE = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
STRIPE = "sk_" + "live_" + "a1B2c3D4e5F6g7H8"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END RSA PRIVATE KEY-----"

MUST = [
    (f"why is {RSK} refused?", "why is (api key) refused?"),
    (f"curl -H 'x-api-key: {OPENAI}' fails", "curl -H 'x-api-key: (api key)' fails"),
    (f"git clone with {GITHUB} says 403", "git clone with (api key) says 403"),
    (f"aws key {AWS} has no rights", "aws key (api key) has no rights"),
    (f"maps key {GOOGLE}.", "maps key (api key)."),
    (f"the bot {SLACK} is silent", "the bot (api key) is silent"),
    (f"{STRIPE} in production", "(api key) in production"),
    (f"decode {JWT} please", "decode (token) please"),
    (f"my key is\n{PEM}\nand it fails", "my key is\n(private key)\nand it fails"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "(private key)"),
    ("Authorization: Bearer abc123DEF456ghi", "Authorization: Bearer (token)"),
    ("header 'authorization: Basic dXNlcjpwYXNz'", "header 'authorization: Basic (token)'"),
    ("password: hunter2", "password: (password)"),
    ("PASSWORD=swordfish ./run.sh", "PASSWORD=(password) ./run.sh"),
    ('{"password": "correct horse"}', '{"password": (password)}'),
    ("DB_PASSWORD='s3cr3t pass'", "DB_PASSWORD=(password)"),
    ("my password is hunter2, why is it refused?", "my password is (password), why is it refused?"),
    ('the passphrase is "correct horse battery"', "the passphrase is (password)"),
    ("mein Passwort lautet Sommer2024!", "mein Passwort lautet (password)"),
    ("the pin is 4711", "the pin is (password)"),
    ("api_key = a1b2c3d4e5f6", "api_key = (secret)"),
    ("client_secret: 8f14e45fceea167a", "client_secret: (secret)"),
    ("https://x.example/cb?access_token=a1b2c3d4e5&state=1", "https://x.example/cb?access_token=(secret)&state=1"),
    ("mysql --password hunter2 -h db", "mysql --password (password) -h db"),
    ("postgresql://app:s3cr3t@db.example:5432/shop", "postgresql://app:(password)@db.example:5432/shop"),
    ("redis://:s3cr3t@cache:6379/0", "redis://:(password)@cache:6379/0"),
    ("mongodb+srv://u:p%40ss@c0.example.net/x", "mongodb+srv://u:(password)@c0.example.net/x"),
    ("Server=db;User Id=sa;Password=Str0ng!Pass;Encrypt=True", "Server=db;User Id=sa;Password=(password);Encrypt=True"),
    ("AccountName=a;AccountKey=Zm9vYmFyYmF6cXV4;Suffix=x", "AccountName=a;AccountKey=(secret);Suffix=x"),
    ("postgresql://u:p@ss/word@host/db", "postgresql://u:(password)@host/db"),
    ("amqp://u:a/b/c@host and http://x:9/y", "amqp://u:(password)@host and http://x:9/y"),
    ("api key: abcdefgh12345", "api key: (secret)"),
    ("API KEY = a1b2c3d4e5f6", "API KEY = (secret)"),
    ("private key: a1b2c3d4e5f6", "private key: (secret)"),
    ("the API key is 9f8a7b6c5d4e, why 401?", "the API key is (secret), why 401?"),
    ("my access key is 9f8a7b6c5d4e.", "my access key is (secret)"),
    ("the key is 9f8a7b6c5d4e3f2a", "the key is (secret)"),
    ("token was 'a1b2c3d4e5'", "token was (secret)"),
    ("the client secret is now a1b2c3d4e5", "the client secret is now (secret)"),
    ("https://hooks.slack.com/services/T000/B000/XXXXXXXX", "https://hooks.slack.com/services/(token)"),
    ("write to jane.doe+x@mail.example.co.uk today", "write to (mail address) today"),
    ("müller@straße.example", "(mail address)"),
    ("card 4111 1111 1111 1111 is declined", "card (card number) is declined"),
    ("4111-1111-1111-1111", "(card number)"),
    ("5555555555554444", "(card number)"),
    ("amex 378282246310005!", "amex (card number)!"),
    ("diners 30569309025904, visa 4012888888881881", "diners (card number), visa (card number)"),
]

MUST_NOT = [
    "Error E1042 when exporting to CSV in v2.10.3",
    "does 1.2.3-rc.1+build.5 need python>=3.11,<3.13?",
    "ORA-00942, HTTP 503, 0x80070005, SQLSTATE[42P01]",
    "which port does the relay use: 5432 or localhost:8080?",
    "job 550e8400-e29b-41d4-a716-446655440000 failed",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 broke it",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC",
    "md5 d41d8cd98f00b204e9800998ecf8427e of an empty file",
    "how do I reset my password?",
    "my password is wrong, and my password is not accepted",
    "password: how long must it be?",
    "error 'invalid token: expired'",
    "token = None and secret: true",
    "password = os.environ['DB_PASSWORD']",
    "password: ${DB_PASSWORD} in compose, api_key: <your-key>",
    "api_key=API_KEY or apiKey: process.env.API_KEY",
    "def login(user: str, password: str) -> Token:",
    "SyntaxError: unexpected token: 'else'",
    "what is basic authentication, and what is a bearer token?",
    "basic understanding of bearer instruments",
    "git@github.com:acme/shop.git cannot be cloned",
    "npm install lodash@4.17.21 @types/node@20",
    "ssh://deploy@build:22 and user@localhost",
    "https://example.com/a:b/c?page=2#x",
    "order 1234567812345678 has not come",  # sixteen digits that no card begins with
    "order 4111 1111 1111 1112 has not come",  # of a card's form, and the check digit is wrong
    "at 1733022000123 (milliseconds) the disk was full",
    "phone +49 30 1234567, ISBN 978-3-16-148410-0, EAN 4006381333931",
    "192.168.178.21, fe80::1ff:fe23:4567:890a, 10.0.0.0/8",
    "pi is 3.14159265358979 and 2718281828459045.235",
    "sk-learn, sk_buff and ghp_ are names",
    "the key of the dictionary, the secret of success, a token of love",
    "what does pin 12 of GPIO do? pin is high",
    "AKIA is a prefix",
    "the API key is expired, and the token is not accepted",
    "the issue key is SUPPORT-1042, the primary key is customer_id",
    "the secret is in the vault, and the api key is which one?",
    "api key: where do I find it?",
    "the token is valid for 3600 seconds",
    "http://localhost:9000/users/a@localhost stays",
    "пароль не подходит",
]


@pytest.mark.parametrize(("text", "expected"), MUST, ids=[expected[:40] for _, expected in MUST])
def test_a_secret_is_masked_and_the_question_around_it_stays(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("text", MUST_NOT)
def test_what_questions_are_about_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("text", [text for text, _ in MUST])
def test_masking_twice_is_masking_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@given(st.text(max_size=300))
def test_any_text_can_be_masked_and_stays_so(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@given(st.lists(st.integers(0, 9), min_size=15, max_size=15))
def test_a_number_of_visas_form_is_masked_just_when_its_check_digit_is_right(digits: list[int]) -> None:
    body = [4, *digits[1:]]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in body[::2]) + sum(body[1::2])
    right = (10 - doubled % 10) % 10
    for last in range(10):
        number = "".join(map(str, [*body, last]))
        assert (masked(number) == "(card number)") is (last == right)


@pytest.mark.parametrize(
    "unit",
    ["a@", "password", "4 ", "4", "eyJ", "-----BEGIN PRIVATE KEY-----", "a.", "token:", "sk-", "x://a:", "bearer "],
)
def test_a_hostile_question_of_the_longest_length_takes_no_second(unit: str) -> None:
    began = time.process_time()
    masked(unit * (20_000 // len(unit)))
    assert time.process_time() - began < 1
