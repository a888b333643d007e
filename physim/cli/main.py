"""`physim`: the group of commands, and how every failure is told.

A command's function imports what it needs when it runs, so that `physim --help` and
`physim score` need neither physics nor meshes.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

import click

from physim import __version__
from physim.cli.output import STDERR, STDOUT, drop_unwritable, own_streams, say
from physim.errors import PhysimError, shown_name
from physim.files import refusal

BAD_INPUT, INTERRUPTED, TERMINATED = 2, 130, 143
_UNIX = ("fcntl", "resource")  # modules that Windows does not have
_NO_MEMORY = "failed to map segment"  # how the loader of libraries says it


_MODULES = {
    "batch": ("batch",),
    "bench": ("bench",),
    "calibrate": ("calibrate",),
    "models": ("model",),
    "play": ("play", "scorepad"),
    "render": ("render",),
    "roll": ("roll", "score", "watch"),
    "stats": ("stats",),
    "strategy": ("strategy", "tournament"),
    "validate": ("sensitivity", "validate"),
}
_WHERE = {command: module for module, commands in _MODULES.items() for command in commands}
"""The module of each command; it is loaded when it is asked for."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_WHERE)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _WHERE:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"physim.cli.{_WHERE[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, prog_name="physim")
@click.pass_context
def cli(context: click.Context) -> None:
    """Throw two pigs, with physics."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends a command as Ctrl-C does."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits.

    The code is 0, 2 with one message on stderr, 130 on Ctrl-C or 143 on SIGTERM.
    """
    own_streams()
    with _terminable():
        code = _run(arguments)
    drop_unwritable()
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        with cli.make_context("physim", given) as context:  # `cli.main` would exit 1 after `| head`
            cli.invoke(context)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        return _complain(_usage_text(error))
    except PhysimError as error:
        return _complain(str(error))
    except (KeyboardInterrupt, click.Abort) as stop:
        # A command that keeps what was finished says so itself, as the exception's text.
        say(f"physim: {str(stop) or 'interrupted'}")
        return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
    except (ImportError, MemoryError) as error:
        if isinstance(error, MemoryError) or _NO_MEMORY in str(error):
            short = OSError(errno.ENOMEM, str(error) or os.strerror(errno.ENOMEM))
            return _complain(refusal(short, "not enough memory"))
        if error.name not in _UNIX:
            raise
        return _complain(
            f"this system has no `{error.name}`, which the command needs; physim runs on Linux "
            "and macOS, and on Windows in WSL"
        )
    except OSError as error:
        if isinstance(error, BrokenPipeError) and error.filename in (STDOUT, STDERR):
            return 0  # `| head` has seen what it wanted
        return _complain(refusal(error, _refused(error)))


def _complain(text: str) -> int:
    say("physim: " + " ".join(text.split()))
    return BAD_INPUT


def _refused(error: OSError) -> str:
    """What the system refused, as far as it is known."""
    if error.filename in (STDOUT, STDERR):
        return f"{error.filename}: cannot be written"
    if error.filename is not None:
        return f"{shown_name(error.filename)}: the system refused it"
    return "the system refused what the command needs"


def _usage_text(error: click.ClickException) -> str:
    text = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
        text = f"{error.option_name}: a count must be 1 or more"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text += f" (see `{error.ctx.command_path} --help`)"
    return text


@contextmanager
def _terminable() -> Iterator[None]:
    """Meanwhile SIGTERM raises `Terminated`."""

    def terminate(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # only it handles signals
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
