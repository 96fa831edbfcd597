//! A JSON value as far as a manifest needs it: the rest is skipped while it is read, and takes no memory.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What of a JSON value matters here.
#[derive(Debug, Default)]
pub enum Json {
    /// Null, or absent.
    #[default]
    Null,
    /// A text.
    Text(String),
    /// Its value, when it is a count.
    Number(Option<u64>),
    /// Its length.
    List(u64),
    /// What of an object is looked at.
    Object(Box<Fields>),
    /// True or false.
    Truth,
}

impl Json {
    /// What it is, for a sentence.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Text(_) => "a text",
            Json::Number(_) => "a number",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
            Json::Truth => "true or false",
        }
    }
}

/// The fields of an object that are looked at.
#[derive(Debug, Default)]
pub struct Fields {
    /// `name`.
    pub name: Json,
    /// `family`.
    pub family: Json,
    /// `source`.
    pub source: Json,
    /// `target_selector`.
    pub target: Json,
    /// `bindings`.
    pub bindings: Json,
    /// `binding_access`.
    pub access: Json,
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        from.deserialize_any(Any)
    }
}

/// Takes any value.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Truth)
    }

    fn visit_u64<E>(self, n: u64) -> Result<Json, E> {
        Ok(Json::Number(Some(n)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Number(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number(None))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut n = 0;
        while list.next_element::<IgnoredAny>()?.is_some() {
            n += 1;
        }
        Ok(Json::List(n))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<String>()? {
            let field = match key.as_str() {
                "name" => &mut fields.name,
                "family" => &mut fields.family,
                "source" => &mut fields.source,
                "target_selector" => &mut fields.target,
                "bindings" => &mut fields.bindings,
                "binding_access" => &mut fields.access,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = map.next_value()?;
        }
        Ok(Json::Object(Box::new(fields)))
    }
}
