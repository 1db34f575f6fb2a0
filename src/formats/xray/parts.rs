//! The parts of a segment that are objects themselves: HTTP, causes, open attributes.

use std::borrow::Cow;
use std::sync::Arc;

use super::document::Documents;
use super::draft::{Draft, plain};
use super::json::{Fault, Json, Kind};

impl Documents<'_> {
    /// Attributes under `prefix`; those of a `draft` are also looked at for timing variables.
    pub(super) fn open_attributes<'a>(
        &mut self,
        prefix: &str,
        json: &mut Json<'a>,
        draft: Option<&mut Draft<'a>>,
    ) -> Result<(), Fault> {
        self.prefix.clear();
        self.prefix.push_str(prefix);
        let is_annotation = prefix == "annotations";
        match draft {
            None => self
                .attributes
                .flatten(json, &mut self.prefix, 0, &mut |_, _| {}),
            Some(draft) => self
                .attributes
                .flatten(json, &mut self.prefix, 0, &mut |key, raw| {
                    draft
                        .timing
                        .offer(key, is_annotation, || Cow::Owned(plain(raw).into_owned()));
                }),
        }
    }

    pub(super) fn http<'a>(
        &mut self,
        json: &mut Json<'a>,
        draft: &mut Draft<'a>,
    ) -> Result<(), Fault> {
        if json.kind()? != Kind::Object {
            return json.pass();
        }
        json.open_object()?;
        let mut first = true;
        while let Some(part) = json.key(&mut first)? {
            if json.kind()? != Kind::Object {
                json.pass()?;
                continue;
            }
            let is_request = part == "request";
            draft.has_request |= is_request;
            json.open_object()?;
            let mut first = true;
            while let Some(key) = json.key(&mut first)? {
                match (is_request, key.as_ref()) {
                    (true, "method") => draft.method = json.text()?.filter(|m| !m.is_empty()),
                    (true, "url") => {
                        draft.url = json.text()?.filter(|u| !u.is_empty());
                        if let Some(url) = &draft.url {
                            self.attributes.add_text("http.url", url);
                        }
                    }
                    (true, "traced") => draft.is_traced |= json.truth()? == Some(true),
                    (true, "client_ip") => self.open_attributes("http.client_ip", json, None)?,
                    (true, "user_agent") => self.open_attributes("http.user_agent", json, None)?,
                    (true, "x_forwarded_for") => {
                        self.open_attributes("http.x_forwarded_for", json, None)?;
                    }
                    (false, "status") => {
                        draft.http_status = json
                            .number()?
                            .filter(|s| (100.0..1000.0).contains(s))
                            .map(|s| s as u16);
                    }
                    (false, "content_length") => {
                        // −1 stands for a length that nobody knew.
                        if let Some(bytes) = json.number()?.filter(|n| *n >= 0.0) {
                            self.attributes
                                .add_raw("http.response_bytes", &(bytes as u64).to_string());
                        }
                    }
                    _ => {
                        json.pass()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `cause` is an object with exceptions, or the id of an exception recorded elsewhere in the trace.
    pub(super) fn cause<'a>(
        &mut self,
        json: &mut Json<'a>,
        slot: usize,
        draft: &mut Draft<'a>,
    ) -> Result<(), Fault> {
        match json.kind()? {
            Kind::String => draft.cause_id = json.text()?,
            Kind::Object => {
                json.open_object()?;
                let mut first = true;
                while let Some(key) = json.key(&mut first)? {
                    if key == "exceptions" && json.kind()? == Kind::Array {
                        json.open_array()?;
                        let mut first = true;
                        while json.element(&mut first)? {
                            self.exception(json, slot, draft)?;
                        }
                    } else {
                        json.pass()?;
                    }
                }
            }
            _ => {
                json.pass()?;
            }
        }
        Ok(())
    }

    fn exception<'a>(
        &mut self,
        json: &mut Json<'a>,
        slot: usize,
        draft: &mut Draft<'a>,
    ) -> Result<(), Fault> {
        if json.kind()? != Kind::Object {
            return json.pass();
        }
        let (mut id, mut name, mut message) = (None, None, None);
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            match key.as_ref() {
                "id" => id = json.text()?,
                "type" => name = json.text()?,
                "message" => message = json.text()?,
                _ => {
                    json.pass()?;
                }
            }
        }
        let text = match (
            name.as_deref().unwrap_or(""),
            message.as_deref().unwrap_or(""),
        ) {
            ("", message) => Cow::Borrowed(message),
            (name, "") => Cow::Borrowed(name),
            // The Go SDK puts the type into the message as well.
            (name, message) if message.starts_with(name.rsplit('.').next().unwrap_or(name)) => {
                Cow::Borrowed(message)
            }
            (name, message) => Cow::Owned(format!("{name}: {message}")),
        };
        let text = self.names.get(&text);
        if let Some(id) = id {
            self.exceptions.push((slot, id.into(), Arc::clone(&text)));
        }
        if draft.error_text.is_none() && !text.is_empty() {
            draft.error_text = Some(text);
        }
        Ok(())
    }
}
