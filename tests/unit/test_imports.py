"""The direction of imports: schemas <- topics <- streams.domain <- streams.processors <- streams.app."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("schemas", "topics", "streams")
# Pure libraries: text and numbers in, text and numbers out.
PURE = {"msgspec", "numpy", "markdown_it", "snowballstemmer", "bs4", "markdownify", "pymorphy3"}
# What waits, does I/O, tells the time or rolls dice.
IMPURE = {
    "asyncio",
    "time",
    "random",
    "logging",
    "os",
    "secrets",
    "socket",
    "ssl",
    "subprocess",
    "threading",
    "tempfile",
}
IMPURE |= {"multiprocessing", "concurrent", "shutil", "pathlib", "io", "http", "urllib.request", "sqlite3", "select"}
IMPURE_CALLS = {"open", "input", "print", "now", "utcnow", "today", "uuid1", "uuid4", "read_text", "read_bytes"}


def modules(*names: str) -> Iterator[tuple[str, Path]]:
    """Return every module at or below the dotted `names`, with its file; what is not there yet has none."""
    for name in names:
        path = ROOT.joinpath(*name.split("."))
        for file in [path.with_suffix(".py"), *path.rglob("*.py")]:
            if file.is_file():
                dotted = ".".join(file.relative_to(ROOT).with_suffix("").parts)
                yield dotted.removesuffix(".__init__"), file


def imported(file: Path) -> set[str]:
    """Return the dotted names that a file imports anywhere in it; `from a import b` gives `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = file.relative_to(ROOT).with_suffix("").parts
            base = parts[: len(parts) - node.level] if node.level else ()
            found |= {".".join((*base, *filter(None, [node.module]), alias.name)) for alias in node.names}
    return found


def within(name: str, *packages: str) -> bool:
    """Tell whether a dotted name is one of `packages` or inside of one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def offenders(*of: str, allowed: tuple[str, ...]) -> list[str]:
    """Return the imports of our own modules, in the modules `of`, that are not `allowed`."""
    return [
        f"{module} imports {name}"
        for module, file in modules(*of)
        for name in sorted(imported(file))
        if within(name, *OURS) and not within(name, *allowed)
    ]


def test_schemas_know_nothing_of_topics_and_streams() -> None:
    assert offenders("schemas", allowed=("schemas",)) == []


def test_topics_know_schemas_at_most() -> None:
    assert offenders("topics", allowed=("schemas", "topics")) == []


def test_the_domain_knows_schemas_at_most() -> None:
    assert offenders("streams.domain", allowed=("schemas", "streams.domain", "streams.errors")) == []


def test_ports_and_errors_know_no_processor_and_no_adapter() -> None:
    assert offenders("streams.errors", allowed=()) == []
    assert offenders("streams.ports", allowed=("schemas", "streams.domain", "streams.errors")) == []


def test_processors_know_ports_and_no_adapters() -> None:
    forbidden = ("streams.adapters", "streams.app", "streams.gateways", "streams.sources", "streams.embedded")
    outside = ("faust", "aiokafka", "qdrant_client", "psycopg", "psycopg_pool", "redis", "aiohttp", "onnxruntime")
    for module, file in modules("streams.processors"):
        found = {name for name in imported(file) if within(name, *forbidden, *outside)}
        assert found == set(), module


def test_adapters_know_no_processor() -> None:
    forbidden = ("streams.processors", "streams.app", "streams.gateways")
    for module, file in modules("streams.adapters"):
        assert {name for name in imported(file) if within(name, *forbidden)} == set(), module


def test_gateways_do_not_import_the_command_line() -> None:
    for module, file in modules("streams.gateways"):
        assert {name for name in imported(file) if within(name, "streams.cli")} == set(), module


def test_the_domain_uses_pure_libraries_only() -> None:
    for module, file in modules("streams.domain"):
        for name in imported(file):
            top = name.partition(".")[0]
            assert top in PURE or top in sys.stdlib_module_names or top in OURS, f"{module} imports {name}"
            assert not within(name, *IMPURE), f"{module} imports {name}"


def test_the_domain_never_waits_and_calls_nothing_impure() -> None:
    waiting = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)
    for module, file in modules("streams.domain"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            assert not isinstance(node, waiting), f"{module}:{node.lineno} waits"
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", None))
                assert name not in IMPURE_CALLS, f"{module}:{node.lineno} calls {name}"


def test_two_files_import_faust() -> None:
    found = {module for module, file in modules(*OURS) if any(within(name, "faust", "mode") for name in imported(file))}
    assert found <= {"streams.app", "streams.consumer"}


def test_two_files_import_opentelemetry() -> None:
    found = {module for module, file in modules(*OURS) if any(within(name, "opentelemetry") for name in imported(file))}
    assert found == {f"streams.telemetry.{name}" for name in ("otel", "otel_metrics", "otel_spans")}


def test_telemetry_knows_no_adapter_and_no_processor_in_particular() -> None:
    forbidden = ("streams.adapters", "streams.processors", "streams.app", "streams.gateways", "streams.bootstrap")
    for module, file in modules("streams.telemetry"):
        assert {name for name in imported(file) if within(name, *forbidden)} == set(), module


def reads_of_environment(file: Path) -> Iterator[str]:
    """Return the name of every variable that a file reads, `*` where it takes the environment as a whole."""
    tree = ast.parse(file.read_bytes())
    known: dict[int, str | None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=source, attr="get"), args=[ast.Constant(value=str(name)), *_]):
                known[id(source)] = name
            case ast.Subscript(value=source, slice=ast.Constant(value=str(name))):
                known[id(source)] = name
            case ast.Dict(keys=keys, values=values):
                # `{**os.environ}` hands the environment on to a child process and reads nothing of it.
                known |= {id(value): None for key, value in zip(keys, values, strict=True) if key is None}
    for node in ast.walk(tree):
        called = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
        if called in ("environ", "environb", "getenv"):
            variable = known.get(id(node), "*")
            if variable is not None:
                yield variable
    if imported(file) & {"os.environ", "os.environb", "os.getenv"}:
        yield "*"


def test_one_file_reads_the_environment() -> None:
    for module, file in modules(*OURS):
        # Where Java and caches are is the machine's matter; it is no setting of ours.
        machine = {"JAVA_HOME", "XDG_CACHE_HOME", "PYTHONPATH"} if within(module, "streams.embedded") else set()
        if module != "streams.settings":
            assert set(reads_of_environment(file)) <= machine, module


def test_no_other_distribution_provides_our_top_level_names() -> None:
    provided = importlib.metadata.packages_distributions()
    for name in OURS:
        assert set(provided.get(name, ())) <= {"rankstream"}, name


def test_a_process_that_uses_no_vectors_and_no_model_starts_without_their_libraries() -> None:
    """Each takes a start's time and memory, and there are twenty processors; who opens one imports it then."""
    seldom = ["qdrant_client", "onnxruntime", "tokenizers", "torch", "FlagEmbedding"]
    script = f"import sys, streams.cli.run, streams.bootstrap; print([n for n in {seldom} if n in sys.modules])"
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
