//! What a schema wants and what was sent, in words.

use serde_json::Value;

/// What the schema wants, in words. That null will do where nothing has to be is left out.
pub(super) fn expected(schema: &Value) -> String {
    let alternatives = alternatives(schema);
    let all: Vec<&Value> = match alternatives.as_slice() {
        [] => choices(schema),
        several => several.iter().flat_map(|schema| choices(schema)).collect(),
    };
    let texts: Vec<_> = all.into_iter().filter(|choice| !choice.is_null()).map(ToString::to_string).collect();
    if let Some((last, others)) = texts.split_last() {
        return if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) };
    }
    let wanted = |schema: &&&Value| !types(schema).contains(&"null");
    if let Some(schema) = alternatives.iter().find(wanted) {
        return expected(schema);
    }
    match types(schema).into_iter().find(|name| *name != "null") {
        Some("boolean") => "true or false".to_owned(),
        Some("string") => format!("a string{}", range(schema, "minLength", "maxLength", " characters")),
        Some("array") => format!("a list{}", range(schema, "minItems", "maxItems", " entries")),
        Some("object") => "an object".to_owned(),
        Some("integer") => format!("an integer{}", range(schema, "minimum", "maximum", "")),
        Some("number") => format!("a number{}", range(schema, "minimum", "maximum", "")),
        Some(_) | None => "something else".to_owned(),
    }
}

fn range(schema: &Value, least: &str, most: &str, unit: &str) -> String {
    let number = |key: &str| schema[key].as_f64();
    match (number(least), number(most)) {
        (Some(least), Some(most)) if unit.is_empty() => format!(" from {least} to {most}"),
        (Some(least), Some(most)) => format!(" of {least} to {most}{unit}"),
        (Some(least), None) => format!(" of at least {least}{unit}"),
        (None, Some(most)) => format!(" of at most {most}{unit}"),
        (None, None) => String::new(),
    }
}

/// The names of the types that it allows.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    }
}

/// The schemas of which one has to fit.
pub(super) fn alternatives(schema: &Value) -> Vec<&Value> {
    let list = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    list.into_iter().flatten().collect()
}

/// The values of which it has to be one.
pub(super) fn choices(schema: &Value) -> Vec<&Value> {
    schema.get("const").into_iter().chain(schema["enum"].as_array().into_iter().flatten()).collect()
}

/// A value as it can be repeated to whoever sent it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("the string {:?}", excerpt(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The beginning of what may be of any length.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
