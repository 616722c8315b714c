//! TOML: read as a whole, and written anew.

use toml::{Table, Value};

use super::cleaner::{Cleaner, Doubt};

pub(super) fn toml(text: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let table: Table = text.parse().map_err(|_| Doubt)?;
    toml::to_string(&shown_table(table, cleaner)?).map_err(|_| Doubt)
}

fn shown_table(table: Table, cleaner: &mut Cleaner) -> Result<Table, Doubt> {
    let mut shown = Table::new();
    for (key, value) in table {
        let text = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if cleaner.admits(&key, &text) {
            shown.insert(key, shown_value(value, cleaner)?);
        }
    }
    Ok(shown)
}

fn shown_value(value: Value, cleaner: &mut Cleaner) -> Result<Value, Doubt> {
    Ok(match value {
        Value::String(text) => Value::String(cleaner.value(&text)?),
        Value::Array(values) => {
            let values: Result<_, _> = values.into_iter().map(|value| shown_value(value, cleaner)).collect();
            Value::Array(values?)
        }
        Value::Table(table) => Value::Table(shown_table(table, cleaner)?),
        plain @ (Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_)) => plain,
    })
}
