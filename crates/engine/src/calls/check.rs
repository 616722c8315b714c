//! Is this what the schema promises? Said in words, with the field, what is right, and what was there instead.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::in_words::{alternatives, choices, excerpt, expected, shown, types};
use bashtion_guard::nearest;

/// What is wrong with a call. The text is for the model that sent it.
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let said = |value| calls::parse(Vendor::TunaCode, value).unwrap_err().to_string();
/// assert_eq!(
///     said(json!({"command": "make", "timout": 60})),
///     r#"there is no "timout"; did you mean "timeout"? (known: capture_output, command, cwd, env, timeout)"#
/// );
/// assert_eq!(
///     said(json!({"command": "make", "timeout": 900})),
///     r#""timeout" must be an integer from 1 to 300, not 900"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A field that nobody knows.
    #[error("there is no {field:?}{} (known: {})", did_you_mean(nearest.as_deref()), known.join(", "))]
    Unknown {
        /// Its path.
        field: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// A field that has to be there.
    #[error("{field:?} is missing: it must be {expected}")]
    Missing {
        /// Its path.
        field: String,
        /// What it must be.
        expected: String,
    },
    /// A value of a wrong type, or beyond its range.
    #[error("{} must be {expected}, not {found}", named(field))]
    Wrong {
        /// The path of the field.
        field: String,
        /// What is right.
        expected: String,
        /// What was there.
        found: String,
    },
    /// Nothing but blanks where there must be something.
    #[error("{field:?} is empty")]
    Empty {
        /// Its path.
        field: String,
    },
    /// No command, path or variable can have one.
    #[error("{field:?} has a NUL byte at offset {at}; leave it out, or print it with printf '\\0'")]
    Nul {
        /// Its path.
        field: String,
        /// Where, in bytes.
        at: usize,
    },
    /// It is understood, and cannot be done.
    #[error("{field:?} cannot be honoured: {reason}")]
    Unsupported {
        /// Its path.
        field: String,
        /// Why, and what to do instead.
        reason: String,
    },
    /// Fields that cannot be given together, or not all be left out.
    #[error("{reason}")]
    Contradiction {
        /// Which, and what is right.
        reason: String,
    },
}

/// Reads a value that is as the schema of its type says: [`parse`](super::parse) for whoever wants to look into the input.
///
/// ```
/// use bashtion::calls::{self, PhoenixBash, PhoenixMode, ToolCall};
/// use serde_json::json;
/// let input: PhoenixBash = calls::read(json!({"command": "make", "mode": "slow"}))?;
/// assert_eq!(input.mode, Some(PhoenixMode::Slow));
/// assert_eq!(input.to_call()?.requests.len(), 1);
/// # Ok::<(), calls::CallError>(())
/// ```
pub fn read<T: DeserializeOwned + JsonSchema>(value: Value) -> Result<T, CallError> {
    check(&value, schema_of::<T>().as_value(), "")?;
    serde_json::from_value(value).map_err(|error| CallError::Contradiction { reason: error.to_string() })
}

/// Made once for each type: it takes longer than all the rest.
fn schema_of<T: JsonSchema>() -> Arc<Schema> {
    static MADE: Mutex<BTreeMap<Cow<'static, str>, Arc<Schema>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        Arc::new(settings.into_generator().into_root_schema_for::<T>())
    };
    Arc::clone(made.entry(T::schema_id()).or_insert_with(make))
}

/// A command that is more than blanks.
pub(super) fn command<'a>(field: &str, text: &'a str) -> Result<&'a str, CallError> {
    if text.trim().is_empty() { Err(CallError::Empty { field: field.to_owned() }) } else { Ok(text) }
}

/// A time in seconds, to the nearest nanosecond.
pub(super) fn seconds(field: &str, given: f64) -> Result<Duration, CallError> {
    Duration::try_from_secs_f64(given).map_err(|_| CallError::Wrong {
        field: field.to_owned(),
        expected: "a number of seconds".to_owned(),
        found: given.to_string(),
    })
}

/// What is understood and cannot be done.
pub(super) fn unsupported(field: &str, reason: &str) -> CallError {
    CallError::Unsupported { field: field.to_owned(), reason: reason.to_owned() }
}

fn check(value: &Value, schema: &Value, at: &str) -> Result<(), CallError> {
    let alternatives = alternatives(schema);
    if !alternatives.is_empty() {
        if alternatives.iter().any(|schema| check(value, schema, at).is_ok()) {
            return Ok(());
        }
        let meant: Vec<_> =
            alternatives.into_iter().filter(|schema| !types(schema).contains(&"null")).collect();
        return match meant.as_slice() {
            [only] => check(value, only, at),
            _ => Err(wrong(value, schema, at)),
        };
    }
    let choices = choices(schema);
    if !choices.is_empty() && !choices.contains(&value) || !has_type(value, schema) {
        return Err(wrong(value, schema, at));
    }
    match value {
        Value::Object(map) => check_object(map, schema, at),
        Value::Array(items) => check_array(items, schema, at),
        Value::String(text) => check_string(text, schema, at),
        Value::Number(_) if !in_range(value.as_f64(), schema, "minimum", "maximum") => {
            Err(wrong(value, schema, at))
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => Ok(()),
    }
}

fn check_object(map: &Map<String, Value>, schema: &Value, at: &str) -> Result<(), CallError> {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    // A wrong name first: it is why another is missing.
    if schema["additionalProperties"] == false
        && let Some(name) = map.keys().find(|name| !properties.contains_key(*name))
    {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing = required.filter(|required| !map.contains_key(*required));
        // What is missing is meant rather than what need not be there.
        let near = nearest(name, missing).or_else(|| nearest(name, properties.keys().map(String::as_str)));
        let mut known: Vec<String> = properties.keys().cloned().collect();
        known.sort();
        let field = join(at, &excerpt(name));
        return Err(CallError::Unknown { field, nearest: near.map(str::to_owned), known });
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            let expected = properties.get(name).map(expected).unwrap_or_default();
            return Err(CallError::Missing { field: join(at, name), expected });
        }
    }
    for (name, value) in map {
        let field = join(at, &excerpt(name));
        if let Some(offset) = name.find('\0') {
            return Err(CallError::Nul { field, at: offset });
        }
        if let Some(schema) = properties.get(name).or_else(|| schema.get("additionalProperties")) {
            check(value, schema, &field)?;
        }
    }
    Ok(())
}

fn check_array(items: &[Value], schema: &Value, at: &str) -> Result<(), CallError> {
    let length = u32::try_from(items.len()).unwrap_or(u32::MAX);
    if !in_range(Some(length.into()), schema, "minItems", "maxItems") {
        let found = format!("one of {}", items.len());
        return Err(CallError::Wrong { field: at.to_owned(), expected: expected(schema), found });
    }
    let each = |(index, item)| check(item, &schema["items"], &format!("{at}[{index}]"));
    items.iter().enumerate().try_for_each(each)
}

fn check_string(text: &str, schema: &Value, at: &str) -> Result<(), CallError> {
    if let Some(offset) = text.find('\0') {
        return Err(CallError::Nul { field: at.to_owned(), at: offset });
    }
    if text.is_empty() && schema["minLength"].as_f64().is_some_and(|least| least > 0.0) {
        return Err(CallError::Empty { field: at.to_owned() });
    }
    let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    if !in_range(Some(length.into()), schema, "minLength", "maxLength") {
        let found = format!("one of {length}");
        return Err(CallError::Wrong { field: at.to_owned(), expected: expected(schema), found });
    }
    Ok(())
}

fn in_range(number: Option<f64>, schema: &Value, least: &str, most: &str) -> bool {
    let number = number.unwrap_or(f64::NAN);
    schema[least].as_f64().is_none_or(|least| number >= least)
        && schema[most].as_f64().is_none_or(|most| number <= most)
}

fn has_type(value: &Value, schema: &Value) -> bool {
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|name| match *name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            _ => false,
        })
}

fn wrong(value: &Value, schema: &Value, at: &str) -> CallError {
    CallError::Wrong { field: at.to_owned(), expected: expected(schema), found: shown(value) }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn named(field: &str) -> String {
    if field.is_empty() { "the call".to_owned() } else { format!("{field:?}") }
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}
