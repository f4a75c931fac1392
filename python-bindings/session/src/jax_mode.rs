//! What the JAX profiler does in a session: listen, or leave that to JAX's ROCm plug-in.

use crate::rocm_plugin::{self, RocmPlugin};
use parking_lot::Mutex;
use rocm_tracer::intercept;
use std::str::FromStr;
use std::sync::OnceLock;
use tsl_profiler_lib::nvtx_utils::{self, provider::ProviderKind};

/// What is done beside JAX; `modes.py` has it in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JaxMode {
    /// Emit, and listen unless JAX's ROCm plug-in hears what is emitted.
    #[default]
    Auto,
    /// Emit only.
    Emit,
    /// Listen only.
    Listen,
    /// Neither.
    Off,
}

impl FromStr for JaxMode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match text {
            "auto" => Self::Auto,
            "emit" => Self::Emit,
            "listen" => Self::Listen,
            "off" => Self::Off,
            _ => return Err(()),
        })
    }
}

static MODE: Mutex<JaxMode> = Mutex::new(JaxMode::Auto);

/// Sets the mode of this process, from the next session on.
pub fn set(mode: JaxMode) {
    *MODE.lock() = mode;
}

/// Whether this project's profiler listens in a session that begins now, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it listens.
    pub listens: bool,
    /// The reason, as the end of a sentence.
    pub why: String,
}

/// Decides for a session that begins now. All plug-ins are loaded by then.
pub(crate) fn decide_now() -> Decision {
    let mode = *MODE.lock();
    if mode != JaxMode::Auto {
        return decide(mode, None, false);
    }
    // Its file is looked into once: it is some hundred megabytes.
    static LISTENER: OnceLock<RocmPlugin> = OnceLock::new();
    let plugin = match LISTENER.get() {
        Some(plugin) => Some(plugin),
        None => rocm_plugin::loaded()
            .first()
            .map(|path| LISTENER.get_or_init(|| RocmPlugin::of_file(path))),
    };
    // Asked for only then: the answer has ROCTX loaded.
    let heard = plugin.is_some_and(|plugin| plugin.has_listener == Some(true)) && goes_to_amd();
    decide(mode, plugin, heard)
}

/// Whether what is emitted goes to AMD's ROCTX, which is all that XLA's listener hears.
fn goes_to_amd() -> bool {
    nvtx_utils::provider().kind != ProviderKind::Embedded
        && !intercept::foreign_libraries().is_empty()
}

/// Decides by what was found: the plug-in, and whether ranges go to AMD's ROCTX.
pub fn decide(mode: JaxMode, plugin: Option<&RocmPlugin>, goes_to_amd: bool) -> Decision {
    let (listens, why) = match (mode, plugin) {
        (JaxMode::Emit, _) => (false, "the mode is emit".to_owned()),
        (JaxMode::Off, _) => (false, "the mode is off".to_owned()),
        (JaxMode::Listen, _) => (true, "the mode is listen".to_owned()),
        (JaxMode::Auto, None) => (true, "no ROCm plug-in of JAX is loaded".to_owned()),
        (JaxMode::Auto, Some(plugin)) => {
            let path = plugin.path.display();
            match plugin.has_listener {
                Some(true) if goes_to_amd => (
                    false,
                    format!(
                        "{path} captures ROCTX markers itself, and each row would be there twice"
                    ),
                ),
                Some(true) => (
                    true,
                    format!("{path} hears AMD's ROCTX library only, and another one is in use"),
                ),
                Some(false) => (true, format!("{path} does not capture ROCTX markers")),
                None => (true, format!("{path} cannot be read")),
            }
        }
    };
    Decision { listens, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(has_listener: Option<bool>) -> RocmPlugin {
        RocmPlugin {
            path: "/p/xla_rocm_plugin.so".into(),
            has_listener,
        }
    }

    #[test]
    fn auto_leaves_it_to_a_plug_in_that_hears_what_is_emitted() {
        let auto = |plugin: Option<&RocmPlugin>, amd| decide(JaxMode::Auto, plugin, amd).listens;
        assert!(auto(None, false) && auto(None, true));
        assert!(!auto(Some(&plugin(Some(true))), true));
        assert!(auto(Some(&plugin(Some(true))), false));
        assert!(auto(Some(&plugin(Some(false))), true));
        assert!(auto(Some(&plugin(None)), true));
        let why = decide(JaxMode::Auto, Some(&plugin(Some(true))), true).why;
        assert!(why.contains("/p/xla_rocm_plugin.so"), "{why}");
    }

    #[test]
    fn the_other_modes_do_as_they_say() {
        for has_listener in [None, Some(false), Some(true)] {
            let plugin = plugin(has_listener);
            assert!(!decide(JaxMode::Emit, Some(&plugin), true).listens);
            assert!(!decide(JaxMode::Off, Some(&plugin), true).listens);
            assert!(decide(JaxMode::Listen, Some(&plugin), true).listens);
        }
        assert_eq!("emit".parse(), Ok(JaxMode::Emit));
        assert_eq!("Emit".parse::<JaxMode>(), Err(()));
    }
}
