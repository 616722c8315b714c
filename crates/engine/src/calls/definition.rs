//! The parameters of a tool, as a model is shown them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{
    AnthropicBash, BashtionBash, ChorusBash, ClaudeCodeBash, CodexExecCommand, GeminiRunShellCommand,
    LocalShellCall, MyCodeBash, PhoenixBash, ShellCall, TachikomaBash, TunaCodeBash, Vendor,
};

impl Vendor {
    /// The JSON schema of this vendor's calls, in the plain form that every vendor's API takes: no references, no formats, no
    /// alternatives with null, and nothing but what is named.
    ///
    /// ```
    /// use bashtion::calls::Vendor;
    /// let schema = Vendor::Phoenix.schema();
    /// assert_eq!(schema["properties"]["mode"]["enum"], serde_json::json!(["default", "slow", "background"]));
    /// assert_eq!(schema["additionalProperties"], false);
    /// ```
    #[must_use]
    pub fn schema(self) -> Value {
        match self {
            Self::Bashtion => schema::<BashtionBash>(),
            Self::OpenAiShell => schema::<ShellCall>(),
            Self::OpenAiLocalShell => schema::<LocalShellCall>(),
            Self::AnthropicBash => schema::<AnthropicBash>(),
            Self::ClaudeCode => schema::<ClaudeCodeBash>(),
            Self::MyCode => schema::<MyCodeBash>(),
            Self::Phoenix => schema::<PhoenixBash>(),
            Self::TunaCode => schema::<TunaCodeBash>(),
            Self::Chorus => schema::<ChorusBash>(),
            Self::Tachikoma => schema::<TachikomaBash>(),
            Self::Codex => schema::<CodexExecCommand>(),
            Self::Gemini => schema::<GeminiRunShellCommand>(),
        }
    }
}

/// The same for any type that [`read`](super::read) reads.
///
/// ```
/// use bashtion::calls::{self, PhoenixBash};
/// assert_eq!(calls::schema::<PhoenixBash>()["required"], serde_json::json!(["command"]));
/// ```
#[must_use]
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let Value::Object(map) = plain(schema) else { return json!({"type": "object"}) };
    // What the type is for is said in the description of the tool.
    let map =
        map.into_iter().filter(|(name, _)| !matches!(name.as_str(), "$schema" | "title" | "description"));
    Value::Object(map.collect())
}

fn plain(schema: Value) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    map.remove("format");
    map.remove("default");
    without_null(&mut map);
    as_choices(&mut map);
    if let Some(Value::Object(properties)) = map.remove("properties") {
        let plain = properties.into_iter().map(|(name, schema)| (name, plain(schema))).collect();
        map.insert("properties".to_owned(), Value::Object(plain));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = map.remove(name) {
            map.insert(name.to_owned(), plain(inner));
        }
    }
    Value::Object(map)
}

/// What may be left out need not be null, too.
fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get("type") {
        let named: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
        if let [only] = named.as_slice() {
            map.insert("type".to_owned(), only.clone());
        }
    }
    let Some(Value::Array(alternatives)) = map.remove("anyOf") else { return };
    let named: Vec<Value> = alternatives.into_iter().filter(|schema| schema["type"] != "null").collect();
    match <[Value; 1]>::try_from(named) {
        Ok([Value::Object(only)]) => {
            let said = map.remove("description");
            map.extend(only);
            if let Some(said) = said {
                map.insert("description".to_owned(), said);
            }
            without_null(map);
        }
        Ok([other]) => drop(map.insert("anyOf".to_owned(), json!([other]))),
        Err(several) => drop(map.insert("anyOf".to_owned(), Value::Array(several))),
    }
}

/// Constants with a text each become a list of them.
fn as_choices(map: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = map.get("oneOf") else { return };
    let constants: Option<Vec<Value>> =
        alternatives.iter().map(|schema| schema.get("const").cloned()).collect();
    if let Some(constants) = constants {
        map.remove("oneOf");
        map.insert("type".to_owned(), json!("string"));
        map.insert("enum".to_owned(), Value::Array(constants));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_plain() {
        for vendor in Vendor::ALL {
            let schema = vendor.schema();
            let text = schema.to_string();
            for wrong in ["\"format\"", "\"null\"", "$ref", "$defs", "oneOf", "$schema", "uint64"] {
                assert!(!text.contains(wrong), "{vendor}: {wrong} in {text}");
            }
            assert_eq!(schema["additionalProperties"], false, "{vendor}");
            assert_eq!(schema["type"], "object", "{vendor}");
            let described = |(name, property): (&String, &Value)| {
                let explains_itself = matches!(name.as_str(), "type" | "action" | "status" | "id");
                assert!(
                    property["description"].is_string() || explains_itself,
                    "{vendor}: {name} is not described"
                );
            };
            schema["properties"].as_object().unwrap().iter().for_each(described);
        }
    }
}
