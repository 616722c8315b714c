//! Files on top of each other, and where each value comes from.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::{Table, Value};

use super::{BUILT_IN, Layer, Profile};
use crate::{PermissionError, PolicyError};

/// Files on top of each other.
///
/// ```
/// use bashtion::Layers;
/// let layers = Layers::built_in("chorus")?.over("my file", "[limits]\ntimeout = \"5m\"")?;
/// let timeout = layers.settings().into_iter().find(|setting| setting.key == "limits.timeout").unwrap();
/// assert_eq!((timeout.value.as_str(), timeout.origin.as_str()), (Some("5m"), "my file"));
/// assert_eq!(layers.profile()?.limits.timeout.as_secs(), 300);
/// # Ok::<(), bashtion::ProfileError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Layers {
    table: Table,
    origins: BTreeMap<String, String>,
    /// Each by itself, to find the one that is to blame.
    parts: Vec<(String, Table)>,
    project: Option<Project>,
}

#[derive(Debug, Clone)]
struct Project {
    origin: String,
    layer: Layer,
    table: Table,
}

/// Where a profile comes from, and its text.
pub type Origin = (String, String);

/// One value, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its section and name: `limits.timeout`.
    pub key: String,
    /// What holds.
    pub value: serde_json::Value,
    /// The same as it would be written in a file.
    #[serde(skip)]
    pub written: String,
    /// What said so last.
    pub origin: String,
}

/// What is wrong with a profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// There is none of that name.
    #[error("there is no profile {name:?}{}", meant(nearest.as_deref()))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// It cannot be read.
    #[error("cannot read the profile {name:?}: {problem}")]
    Unreadable {
        /// What was asked for.
        name: String,
        /// Why not.
        problem: String,
    },
    /// Profiles that stand on each other in a circle, or on too many.
    #[error("the profile {name:?} stands on too many others")]
    TooDeep {
        /// The last one.
        name: String,
    },
    /// It is not what a configuration looks like.
    #[error("{origin} is not a valid configuration: {problem}{}", meant(nearest.as_deref()))]
    Syntax {
        /// Which file.
        origin: String,
        /// What is wrong, and where.
        problem: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// A value that cannot be.
    #[error("{origin} is not a valid configuration: {problem}")]
    Value {
        /// Which file.
        origin: String,
        /// What is wrong.
        problem: String,
    },
    /// A rule or a permission that cannot be.
    #[error("{origin} is not a valid configuration: {source}")]
    Policy {
        /// Which file.
        origin: String,
        /// What is wrong.
        source: PolicyError,
    },
    /// A permission that cannot be.
    #[error("{origin} is not a valid configuration: {source}")]
    Permission {
        /// Which file.
        origin: String,
        /// What is wrong.
        source: PermissionError,
    },
    /// A project's file tried to allow more.
    #[error("{origin} is not a valid configuration: a project may only make things stricter, but {what}")]
    Widens {
        /// Which file.
        origin: String,
        /// How.
        what: String,
    },
}

const DEEPEST: usize = 8;

impl Layers {
    /// A profile that is built in, with those that it inherits from.
    pub fn built_in(name: &str) -> Result<Self, ProfileError> {
        Self::inheriting(name, &|name| Err(ProfileError::unknown(name)))
    }

    /// A profile that is built in, or one that `read` finds: it returns where it comes from and its text.
    pub fn inheriting(
        name: &str,
        read: &dyn Fn(&str) -> Result<Origin, ProfileError>,
    ) -> Result<Self, ProfileError> {
        let mut chain = vec![];
        let mut next = Some(name.to_owned());
        while let Some(name) = next {
            if chain.len() == DEEPEST {
                return Err(ProfileError::TooDeep { name });
            }
            let (origin, table) = match BUILT_IN.iter().find(|(known, _)| *known == name) {
                // A test has looked at each of them.
                Some((_, text)) => (format!("profile {name}"), table("", text)?),
                None => {
                    let (origin, text) = read(&name)?;
                    let table = checked(&origin, &text)?;
                    (origin, table)
                }
            };
            let below = table.get("inherits").and_then(Value::as_str).map(str::to_owned);
            next = below.or_else(|| (name != "default").then(|| "default".to_owned()));
            chain.push((origin, table));
        }
        Ok(chain
            .into_iter()
            .rev()
            .fold(Self::default(), |layers, (origin, table)| layers.with(&origin, table)))
    }

    /// The profile that a file says it stands on.
    pub fn inherits(origin: &str, text: &str) -> Result<Option<String>, ProfileError> {
        Ok(parse(origin, text)?.inherits)
    }

    /// Another file on top: what it says replaces what was said, key by key, lists as a whole.
    pub fn over(self, origin: &str, text: &str) -> Result<Self, ProfileError> {
        Ok(self.with(origin, checked(origin, text)?))
    }

    fn with(mut self, origin: &str, table: Table) -> Self {
        lay(&mut self.table, &mut self.origins, "", table.clone(), origin, Lists::Replace);
        self.parts.push((origin.to_owned(), table));
        self
    }

    /// A project's file on top of all, which can only make things stricter. Its lists are added to those below.
    pub fn narrowed(mut self, origin: &str, text: &str) -> Result<Self, ProfileError> {
        let layer = parse(origin, text)?;
        self.project = Some(Project { origin: origin.to_owned(), layer, table: table(origin, text)? });
        Ok(self)
    }

    /// What comes of all of them.
    pub fn profile(&self) -> Result<Profile, ProfileError> {
        let mut profile = self.combined().map_err(|error| self.blamed().unwrap_or(error))?;
        if let Some(project) = &self.project {
            profile.narrow(&project.origin, project.layer.clone())?;
        }
        Ok(profile)
    }

    fn combined(&self) -> Result<Profile, ProfileError> {
        let top = self.parts.last().map_or("", |(origin, _)| origin);
        let layer = self.table.clone().try_into::<Layer>().map_err(|error| syntax(top, &error))?;
        Profile::from_layer(layer, top)
    }

    /// The error of the first file with which it is wrong.
    fn blamed(&self) -> Option<ProfileError> {
        let mut below = Self::default();
        self.parts.iter().find_map(|(origin, table)| {
            lay(&mut below.table, &mut below.origins, "", table.clone(), origin, Lists::Replace);
            below.parts.push((origin.clone(), table.clone()));
            below.combined().err()
        })
    }

    /// Every value, and where it comes from.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let (mut table, mut origins) = (self.table.clone(), self.origins.clone());
        if let Some(project) = &self.project {
            lay(&mut table, &mut origins, "", project.table.clone(), &project.origin, Lists::Add);
        }
        let mut settings = vec![];
        list(&table, "", &mut |key, value| {
            let origin = origins.get(&key).cloned().unwrap_or_default();
            let written = value.to_string();
            let value = serde_json::to_value(value).unwrap_or_default();
            settings.push(Setting { key, value, written, origin });
        });
        settings
    }
}

/// What becomes of a list that was there before.
#[derive(Debug, Clone, Copy)]
enum Lists {
    Replace,
    Add,
}

fn lay(
    below: &mut Table,
    origins: &mut BTreeMap<String, String>,
    path: &str,
    above: Table,
    origin: &str,
    lists: Lists,
) {
    for (name, value) in above {
        let key = joined(path, &name);
        match (below.get_mut(&name), value, lists) {
            (Some(Value::Table(inner)), Value::Table(above), _) => {
                lay(inner, origins, &key, above, origin, lists);
            }
            (Some(Value::Array(list)), Value::Array(more), Lists::Add) => {
                if !more.is_empty() {
                    let before = origins.get(&key).filter(|_| !list.is_empty());
                    let both =
                        before.map_or_else(|| origin.to_owned(), |before| format!("{before}, {origin}"));
                    origins.insert(key, both);
                }
                list.extend(more);
            }
            (_, value, _) => {
                match &value {
                    Value::Table(inner) => {
                        list(inner, &key, &mut |key, _| drop(origins.insert(key, origin.to_owned())));
                    }
                    _ => drop(origins.insert(key, origin.to_owned())),
                }
                below.insert(name, value);
            }
        }
    }
}

/// Everything that is not a table with something in it.
fn list(table: &Table, path: &str, each: &mut dyn FnMut(String, &Value)) {
    for (name, value) in table {
        match value {
            Value::Table(inner) if !inner.is_empty() => list(inner, &joined(path, name), each),
            value => each(joined(path, name), value),
        }
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// As it is written, after a look at what each value means: that knows the lines.
fn checked(origin: &str, text: &str) -> Result<Table, ProfileError> {
    parse(origin, text)?;
    table(origin, text)
}

fn table(origin: &str, text: &str) -> Result<Table, ProfileError> {
    text.parse::<Table>().map_err(|error| syntax(origin, &error))
}

fn parse(origin: &str, text: &str) -> Result<Layer, ProfileError> {
    toml::from_str(text).map_err(|error| syntax(origin, &error))
}

/// A key that nobody knows gets the name that it may have meant: the parser lists those that are known.
fn syntax(origin: &str, error: &toml::de::Error) -> ProfileError {
    let message = error.message();
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = message.starts_with("unknown").then(|| quoted.next()).flatten();
    let nearest = unknown.and_then(|unknown| bashtion_guard::nearest(unknown, quoted)).map(str::to_owned);
    ProfileError::Syntax {
        origin: origin.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
        nearest,
    }
}

impl ProfileError {
    /// There is no profile of that name.
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        let nearest = bashtion_guard::nearest(name, Profile::names()).map(str::to_owned);
        Self::Unknown { name: name.to_owned(), nearest }
    }

    /// There is one, and it cannot be read.
    #[must_use]
    pub fn unreadable(name: &str, problem: &str) -> Self {
        Self::Unreadable { name: name.to_owned(), problem: problem.to_owned() }
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(layers: &Layers, key: &str) -> (String, String) {
        let found = layers.settings().into_iter().find(|setting| setting.key == key).unwrap();
        (found.written, found.origin)
    }

    #[test]
    fn the_last_to_say_something_is_its_origin() {
        let layers = Layers::built_in("phoenix").unwrap();
        assert_eq!(setting(&layers, "limits.timeout"), ("\"30s\"".into(), "profile phoenix".into()));
        assert_eq!(setting(&layers, "limits.grace"), ("\"2s\"".into(), "profile default".into()));
        let layers = layers.over("user", "[permissions]\ndeny = [\"rm *\"]").unwrap();
        let layers = layers.narrowed("project", "[permissions]\ndeny = [\"dd *\"]").unwrap();
        let expected = ("[\"rm *\", \"dd *\"]".into(), "user, project".into());
        assert_eq!(setting(&layers, "permissions.deny"), expected);
    }

    #[test]
    fn an_unknown_key_is_told_with_the_one_that_was_meant() {
        let error = Layers::built_in("default").unwrap().over("f", "[limits]\ntimout = 3").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("line 2") && text.ends_with("did you mean `timeout`?"), "{text}");
        let text = Layers::built_in("default").unwrap().over("f", "[limit]\n").unwrap_err().to_string();
        assert!(text.ends_with("did you mean `limits`?"), "{text}");
        let text = Layers::built_in("pheonix").unwrap_err().to_string();
        assert_eq!(text, "there is no profile \"pheonix\"; did you mean `phoenix`?");
    }

    #[test]
    fn the_file_is_blamed_that_is_wrong() {
        let layers =
            Layers::built_in("default").unwrap().over("profile.toml", "[limits]\ngrace = '1h'").unwrap();
        let error = layers.over("mine.toml", "[limits]\ntimeout = '1m'").unwrap().profile().unwrap_err();
        assert!(error.to_string().starts_with("profile.toml is not a valid configuration"), "{error}");
    }

    #[test]
    fn profiles_do_not_stand_on_themselves() {
        let read = |_: &str| Ok(("f".to_owned(), "inherits = \"x\"".to_owned()));
        let error = Layers::inheriting("x", &read).unwrap_err();
        assert!(matches!(error, ProfileError::TooDeep { .. }), "{error}");
    }
}
