"""Entry point of `rankstream`: finds the subcommand, sets up logging, and turns errors into one line."""

from __future__ import annotations

import importlib
import logging
import os
import sys

import click

from streams import settings
from streams.cli import logs, telemetry
from streams.errors import ConfigurationError, RankstreamError

COMMANDS = {
    "up": "up",
    "ask": "ask",
    "ingest": "ingest",
    "publish": "publish",
    "delete": "delete",
    "show": "show",
    "status": "status",
    "dlq": "dlq",
    "evaluate": "evaluate",
    "calibrate": "calibrate",
    "profiles": "profiles",
    "graph": "graph",
    "topics": "topics",
    "check": "check",
    "acls": "acls",
    "reindex": "reindex",
    "keys": "keys",
    "mcp": "mcp",
    "query-log": "query_log",
    "run": "run",
    "probe": "probe",
    "version": "version",
}
# Errors of packages that are not below streams.errors; looked up by name, so that a command pays only for what it uses.
WRONG_SETTING = (("streams.embedded.processes", "EmbeddedError"), ("topics.admin", "AdminError"))


class Commands(click.Group):
    """Imports a subcommand when it is asked for: `rankstream ask` must not wait for the processors' libraries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"streams.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def rankstream() -> None:
    """Streaming hybrid retrieval on Kafka. Start with `rankstream up`."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 it failed, 2 a setting or an argument is wrong, 130 interrupted."""
    debug = False
    try:
        # What is wrong is told by the commands that need a setting, and by `rankstream check` all at once.
        found, problems = settings.read()
        debug = found.log_level == "DEBUG"
        logs.set_up(found.log_level or "WARNING", form=found.log or "text")
        with telemetry.on(None if problems else found, sys.argv[1:]):
            code = rankstream.main(prog_name="rankstream", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        # Whoever read our output has had enough; say nothing when Python flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        code = _report(error, debug=debug)
    sys.exit(code)


def _report(error: Exception, *, debug: bool) -> int:
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if debug:
        logging.getLogger("rankstream").exception("the command failed", exc_info=error)
    known = _is_setting(error) or isinstance(error, RankstreamError)
    lines = error.problems if isinstance(error, settings.WrongSettings) else (str(error),)
    for said in lines:
        line = " ".join(said.split()) or type(error).__name__
        if not known:
            line = f"{type(error).__name__}: {line} ({settings.LOG_LEVEL}=DEBUG shows where)"
        click.echo(f"rankstream: {line}", err=True)
    return 2 if _is_setting(error) else 1


def _is_setting(error: Exception) -> bool:
    named = tuple(
        getattr(sys.modules[module], name) for module, name in WRONG_SETTING if hasattr(sys.modules.get(module), name)
    )
    return isinstance(error, (ConfigurationError, *named))


if __name__ == "__main__":
    main()
