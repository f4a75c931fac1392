//! XProf's server, on loopback.

use crate::examples;
use crate::process;
use crate::repo;
use crate::venv::Venv;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How long the server may take to answer: it imports much.
const START_LIMIT: Duration = Duration::from_secs(120);

/// A running server; dropping it ends it.
pub(crate) struct Server {
    child: Child,
    port: u16,
    logdir: PathBuf,
    log: PathBuf,
}

impl Server {
    /// Starts XProf on 127.0.0.1 and waits until it answers.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or ends or does not answer in time; the error names its log.
    pub(crate) fn start(venv: &Venv, logdir: &Path, port: u16) -> Result<Self> {
        let log = repo::target().join("xtask/xprof.log");
        let output =
            File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = process::command(venv.python())
            .arg(repo::root().join("xtask/python/serve_xprof.py"))
            .arg(logdir)
            .arg(port.to_string())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .context("cannot start XProf")?;
        let mut server = Self {
            child,
            port,
            logdir: logdir.to_owned(),
            log,
        };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("XProf ended ({status}); see {}", server.log.display());
            }
            if start.elapsed() > START_LIMIT {
                bail!(
                    "XProf does not answer on port {port}; see {}",
                    server.log.display()
                );
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    /// The address of a run's trace viewer.
    ///
    /// # Errors
    ///
    /// If the run has no profile.
    pub(crate) fn trace_page(&self, run: &str) -> Result<String> {
        let xplane = examples::xplane_in(&self.logdir.join("plugins/profile").join(run))?;
        let name = xplane.file_name().unwrap_or_default().to_string_lossy();
        let host = name.trim_end_matches(".xplane.pb");
        Ok(format!(
            "http://127.0.0.1:{}/data/plugin/profile/trace_viewer@?run={run}&tag=trace_viewer@&host={host}",
            self.port
        ))
    }

    /// Waits until it ends.
    ///
    /// # Errors
    ///
    /// If it ends with an error.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let status = self.child.wait()?;
        if !status.success() {
            bail!("XProf ended ({status}); see {}", self.log.display());
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fails with what to do if a port is taken.
///
/// # Errors
///
/// If it is.
pub(crate) fn check_port(port: u16) -> Result<()> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map(drop)
        .with_context(|| format!("port {port} cannot be used; choose another with --port"))
}

/// A port that is free now.
///
/// # Errors
///
/// If none is.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}
