//! The `xprof-roctx` command.
//!
//! In: the arguments. Out: text for a person (or JSON for a script) on stdout, errors on stderr, and
//! an exit code: 0, 1 if the work failed, 2 if the arguments are wrong; `run` gives its program's.
//!
//! | module | job |
//! |---|---|
//! | `args` | the arguments and their help |
//! | `find` | the profiles that a path means |
//! | `report` | what a profile has, per label |
//! | `run` | a program, captured from its start to its end |

mod args;
mod find;
mod report;
mod run;

use args::{Args, Command};
use clap::Parser;
use std::io::{self, Write};
use std::path::Path;

/// The work failed.
const FAILED: i32 = 1;

/// Runs the command. `arguments` begin with the program's name; `library_dir` holds the shared
/// libraries that `run` gives to a program. Returns the exit code.
pub fn command_line(arguments: Vec<String>, library_dir: &Path) -> i32 {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            // Help and version come this way too, with code 0. A closed stdout is no error.
            let _ = error.print();
            return error.exit_code();
        }
    };
    let result = match args.command {
        Command::Report(args) => report::report(&args, &mut io::stdout().lock()).map(|()| 0),
        Command::Run(args) => run::run(&args, library_dir),
        Command::Libdir => writeln!(io::stdout(), "{}", library_dir.display())
            .map_or_else(|error| Err(error.into()), |()| Ok(0)),
    };
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "xprof-roctx: {error:#}");
            FAILED
        }
    }
}

/// Whether whoever read the output (`head`, a pager) had enough of it.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
