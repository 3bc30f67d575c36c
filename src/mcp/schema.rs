//! What the types of a tool look like as JSON Schema: plain enough for every client.

use rmcp::model::JsonObject;
use rmcp::schemars::generate::SchemaSettings;
use rmcp::schemars::transform::RecursiveTransform;
use rmcp::schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of arguments.
pub fn of_arguments<T: JsonSchema>() -> JsonObject {
    object::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of an answer.
pub fn of_answer<T: JsonSchema>() -> JsonObject {
    object::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn object<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let settings = settings.with_transform(RecursiveTransform(plain));
    match settings.into_generator().into_root_schema_for::<T>().into() {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Some clients stumble over `["integer", "null"]`, and over formats that they don't know. Here what is not given is left
/// out, and a number is a number.
fn plain(schema: &mut Schema) {
    for key in ["format", "title"] {
        schema.remove(key);
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let real = types.iter().find(|name| *name != "null").cloned();
        schema.insert("type".to_owned(), real.unwrap_or_default());
    }
    if let Some(Value::String(text)) = schema.get("description") {
        let text = text.replace('\n', " ");
        schema.insert("description".to_owned(), text.into());
    }
}
