//! JSON, as much of it as `./dev api` writes.

use std::collections::BTreeMap;

#[derive(Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Number(i128),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The member of an object; null if it has none of that name.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(key, _)| key == name)
                .map_or(&Json::Null, |(_, value)| value),
            _ => &Json::Null,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }

    pub fn number(&self) -> Option<i128> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(list) => list,
            _ => &[],
        }
    }

    /// The members of an object whose values are numbers.
    pub fn numbers(&self) -> BTreeMap<&str, i128> {
        match self {
            Json::Object(members) => members
                .iter()
                .filter_map(|(key, value)| Some((key.as_str(), value.number()?)))
                .collect(),
            _ => BTreeMap::new(),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

type Parsed<T> = Result<T, String>;

/// The text's value, or line, column and what is wrong there.
pub fn parse(text: &str) -> Parsed<Json> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value()?;
    match parser.next_byte() {
        None => Ok(value),
        Some(_) => parser.wrong("more than one value"),
    }
}

impl<'t> Parser<'t> {
    fn wrong<T>(&self, what: &str) -> Parsed<T> {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&each| each != '\n').count() + 1;
        Err(format!("{}:{}: {}", line, column, what))
    }

    /// What comes after white space.
    fn next_byte(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_there = self.next_byte() == Some(wanted);
        self.at += is_there as usize;
        is_there
    }

    fn value(&mut self) -> Parsed<Json> {
        match self.next_byte() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-') | Some(b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Parsed<Json> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.wrong("not a value")
    }

    fn number(&mut self) -> Parsed<Json> {
        let rest = &self.text[self.at..];
        let end = rest.find(|each: char| each != '-' && !each.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..end].parse() {
            Ok(number) => {
                self.at += end;
                Ok(Json::Number(number))
            }
            Err(_) => self.wrong("not an integer"),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let mut made = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let end = match rest.find(|each| each == '"' || each == '\\') {
                Some(end) => end,
                None => return self.wrong("a text without its end"),
            };
            made += &rest[..end];
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(made);
            }
            made.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let rest = &self.text[self.at..];
        let (length, made) = match rest.as_bytes().first() {
            Some(b'u') => {
                let digits = rest.get(1..5).unwrap_or("");
                (5, u32::from_str_radix(digits, 16).ok().and_then(char::from_u32))
            }
            Some(b'n') => (1, Some('\n')),
            Some(b't') => (1, Some('\t')),
            Some(&each @ (b'"' | b'\\' | b'/')) => (1, Some(each as char)),
            _ => (1, None),
        };
        match made {
            Some(made) => {
                self.at += length;
                Ok(made)
            }
            None => self.wrong("not an escape"),
        }
    }

    fn list(&mut self) -> Parsed<Json> {
        let mut made = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(Json::List(made));
        }
        loop {
            made.push(self.value()?);
            if self.take(b']') {
                return Ok(Json::List(made));
            }
            if !self.take(b',') {
                return self.wrong("no comma");
            }
        }
    }

    fn object(&mut self) -> Parsed<Json> {
        let mut made = Vec::new();
        self.at += 1;
        if self.take(b'}') {
            return Ok(Json::Object(made));
        }
        loop {
            if self.next_byte() != Some(b'"') {
                return self.wrong("no name of a member");
            }
            let name = self.string()?;
            if !self.take(b':') {
                return self.wrong("no colon");
            }
            made.push((name, self.value()?));
            if self.take(b'}') {
                return Ok(Json::Object(made));
            }
            if !self.take(b',') {
                return self.wrong("no comma");
            }
        }
    }
}
