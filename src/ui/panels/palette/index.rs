//! Everything that the palette finds: commands and choices from the words, the rest from the data.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::time::Zone;
use crate::engine::cancel::Cancel;
use crate::model::schema::TABLES;
use crate::session::incident::Incident;
use crate::session::settings::{Lang, Theme};
use crate::session::target::Target;
use crate::session::view::{Drawer, LaneSpec, Selection};
use crate::ui::commands::{self, CommandId};
use crate::ui::frame::Frame;
use crate::ui::lanes;
use crate::ui::panels::palette::fuzzy::{Name, Query};
use crate::ui::request::{FocusEdit, LaneEdit, Request, Setting};
use crate::words::Words;
use crate::words::report::Told;

/// How many hits are shown.
pub const SHOWN: usize = 50;

/// What kind of thing it is; of equal hits the first kind comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A command.
    Command,
    /// A possible cause.
    Cause,
    /// A finding.
    Finding,
    /// A lane that can be added.
    Lane,
    /// A service that has spans.
    Service,
    /// Another entity.
    Entity,
    /// A table.
    Table,
    /// An event of an input.
    Event,
    /// A series.
    Series,
    /// A trace.
    Trace,
    /// What was opened lately.
    Recent,
    /// Colours.
    Theme,
    /// A language.
    Language,
    /// A time zone.
    Zone,
}

impl Kind {
    /// The key of its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Command => "palette-kind-command",
            Self::Cause => "palette-kind-cause",
            Self::Finding => "palette-kind-finding",
            Self::Lane => "palette-kind-lane",
            Self::Service => "palette-kind-service",
            Self::Entity => "palette-kind-entity",
            Self::Table => "palette-kind-table",
            Self::Event => "palette-kind-event",
            Self::Series => "palette-kind-series",
            Self::Trace => "palette-kind-trace",
            Self::Recent => "palette-kind-recent",
            Self::Theme => "palette-kind-theme",
            Self::Language => "palette-kind-language",
            Self::Zone => "palette-kind-zone",
        }
    }
}

/// What happens when it is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// A command.
    Command(CommandId),
    /// Add a lane.
    Lane(LaneSpec),
    /// Pick a cause or finding.
    Select(Selection),
    /// Go to a place in the data.
    Follow(Target),
    /// Open a trace.
    Trace(Arc<str>),
    /// Open a table with a filter.
    Table(&'static str, String),
    /// Open inputs.
    Open(Vec<PathBuf>),
    /// Set something.
    Set(Setting),
}

impl Act {
    /// What it asks for.
    pub fn requests(&self) -> Vec<Request> {
        match self {
            Self::Command(id) => vec![Request::Command(*id)],
            Self::Lane(spec) => vec![Request::Lanes(LaneEdit::Add(spec.clone(), None))],
            Self::Select(selection) => vec![Request::Select(selection.clone())],
            Self::Follow(target) => vec![Request::Follow(target.clone())],
            Self::Trace(id) => vec![
                Request::Drawer(Some(Drawer::Trace)),
                Request::Focus(FocusEdit::Trace(Some(id.to_string()))),
            ],
            Self::Table(name, filter) => vec![
                Request::Drawer(Some(Drawer::Table)),
                Request::Focus(FocusEdit::Table((*name).to_owned(), filter.clone())),
            ],
            Self::Open(paths) => vec![Request::Open(paths.clone())],
            Self::Set(setting) => vec![Request::Set(setting.clone())],
        }
    }
}

/// One thing that can be found.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub title: String,
    /// More of it, dimmed; not searched.
    pub detail: String,
    /// What happens.
    pub act: Act,
    name: Name,
    others: Vec<Name>,
}

impl Item {
    fn new(kind: Kind, title: impl Into<String>, act: Act) -> Self {
        let title = title.into();
        Self {
            kind,
            name: Name::new(&title),
            others: Vec::new(),
            detail: String::new(),
            title,
            act,
        }
    }

    fn with(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Also found by this name, at a little less.
    fn also(mut self, name: &str) -> Self {
        self.others.push(Name::new(name));
        self
    }

    fn score(&self, query: &Query) -> Option<i32> {
        let other = self.others.iter().filter_map(|n| query.score(n)).max();
        let own = query.score(&self.name);
        own.max(other.map(|s| s - 64))
    }
}

/// Commands and choices: few, made on the spot.
pub fn choices(frame: &Frame<'_>) -> Vec<Item> {
    let words = frame.words;
    // Whoever learned a command in one language finds it in a window of the other.
    let foreign = Words::of(match words.lang() {
        Lang::En => Lang::Ko,
        Lang::Ko => Lang::En,
    });
    let mut all: Vec<Item> = commands::ALL
        .iter()
        .filter(|c| c.id != CommandId::Palette)
        .map(|c| {
            let group = words.text(group_word(c.group)).to_owned();
            let key = format!("cmd-{}", c.name);
            let title = words.text(&key).to_owned();
            Item::new(Kind::Command, title, Act::Command(c.id))
                .with(group)
                .also(&c.name.replace('-', " "))
                .also(foreign.text(&key))
        })
        .collect();
    for theme in Theme::ALL {
        let key = format!("look-{}", theme.word());
        let title = words.text(&key).to_owned();
        let act = Act::Set(Setting::Theme(theme));
        let item = Item::new(Kind::Theme, title, act);
        let item = item.also(&format!("theme {}", theme.word()));
        all.push(item.also(foreign.text(&key)));
    }
    for lang in Lang::ALL {
        // A language is named in itself, so that whoever needs it can read it.
        let title = match lang {
            Lang::En => "English",
            Lang::Ko => "한국어",
        };
        let act = Act::Set(Setting::Lang(lang));
        all.push(Item::new(Kind::Language, title, act).also(match lang {
            Lang::En => "language en 영어",
            Lang::Ko => "language korean ko",
        }));
    }
    // The name of what is open may say what is not known yet in a replay.
    let recent = frame.settings.recent.iter();
    for paths in recent.filter(|_| frame.replay.is_none()) {
        let title: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        all.push(Item::new(
            Kind::Recent,
            title.join(", "),
            Act::Open(paths.clone()),
        ));
    }
    all
}

/// The key of the word of a group.
pub const fn group_word(group: commands::Group) -> &'static str {
    match group {
        commands::Group::File => "cmd-group-file",
        commands::Group::Edit => "cmd-group-edit",
        commands::Group::Move => "cmd-group-move",
        commands::Group::Lanes => "cmd-group-lanes",
        commands::Group::Findings => "cmd-group-findings",
        commands::Group::View => "cmd-group-view",
        commands::Group::Look => "cmd-group-look",
        commands::Group::Replay => "cmd-group-replay",
    }
}

/// Everything in the data that has a name. Runs on a worker.
pub fn of_data(incident: Option<&Incident>, words: &Words, cancel: &Cancel) -> Vec<Item> {
    let mut all = Vec::new();
    for zone in ["UTC", "local"]
        .map(str::to_owned)
        .into_iter()
        .chain(Zone::names())
    {
        if all.len() < 2 || zone != "UTC" {
            let act = Act::Set(Setting::Zone(zone.clone()));
            all.push(Item::new(Kind::Zone, zone, act));
        }
    }
    let Some(incident) = incident else {
        return all;
    };
    let told = incident
        .report
        .as_ref()
        .map(|report| Told::of(words, report))
        .unwrap_or_default();
    for (at, hypothesis) in incident.hypotheses().iter().enumerate() {
        let act = Act::Select(Selection::Hypothesis(hypothesis.id.clone()));
        let title = told.hypotheses.get(at).map(|h| &h.title);
        let item = Item::new(Kind::Cause, title.unwrap_or(&hypothesis.title), act);
        all.push(item.also(&hypothesis.signature).also(&hypothesis.title));
    }
    for (at, finding) in incident.findings().iter().enumerate() {
        let act = Act::Select(Selection::Finding(finding.id.clone()));
        let title = told.findings.get(at).unwrap_or(&finding.title);
        all.push(
            Item::new(Kind::Finding, title, act)
                .with(finding.start.to_clock())
                .also(&finding.title)
                .also(&format!("{} {}", finding.kind.word(), finding.id)),
        );
    }
    for offer in lanes::ALL.iter().flat_map(|kind| kind.offers(incident)) {
        all.push(Item::new(Kind::Lane, offer.title, Act::Lane(offer.spec)));
    }
    entities(incident, &mut all);
    for table in TABLES {
        let act = Act::Table(table.name, String::new());
        let item = Item::new(Kind::Table, table.name, act);
        all.push(match words.lang() {
            Lang::En => item.with(table.doc),
            // What a table holds is said in English only; its name says it shorter.
            Lang::Ko => item,
        });
    }
    rows(incident, &mut all, cancel);
    all
}

fn entities(incident: &Incident, all: &mut Vec<Item>) {
    let snapshot = incident.snapshot();
    let services: BTreeSet<&Arc<str>> = snapshot
        .spans
        .iter()
        .map(|s| &s.service)
        .filter(|s| !s.is_empty())
        .collect();
    for service in &services {
        let act = Act::Table("spans", service.to_string());
        all.push(Item::new(Kind::Service, service.as_ref(), act));
    }
    for (id, kind, name) in snapshot.graph.names() {
        if services.iter().any(|s| s.as_ref() == name) && id.starts_with("service:") {
            continue;
        }
        let act = Act::Table("series", name.to_owned());
        let word = id.split_once(':').map_or("", |(word, _)| word);
        all.push(
            Item::new(Kind::Entity, name, act)
                .with(word)
                .also(&format!("{kind:?} {name}")),
        );
    }
}

fn rows(incident: &Incident, all: &mut Vec<Item>, cancel: &Cancel) {
    let snapshot = incident.snapshot();
    for (at, event) in snapshot.events.iter().enumerate() {
        let act = Act::Follow(Target::Event { event: at });
        all.push(Item::new(Kind::Event, event.title.as_ref(), act).with(event.t.to_clock()));
    }
    for (at, series) in snapshot.series.iter().enumerate() {
        if at % 1000 == 0 && cancel.is_cancelled() {
            return;
        }
        let act = Act::Follow(Target::Sample {
            series: at,
            t: None,
        });
        all.push(Item::new(Kind::Series, series.selector(), act));
    }
    let mut seen: BTreeSet<&Arc<str>> = BTreeSet::new();
    // Spans of one trace stand together; the first begins it.
    for span in &snapshot.spans {
        if seen.insert(&span.trace_id) {
            all.push(trace(&span.trace_id, &span.service));
        }
    }
    for summary in &snapshot.summaries {
        if seen.insert(&summary.trace_id) {
            all.push(trace(&summary.trace_id, &summary.entry));
        }
    }
}

fn trace(id: &Arc<str>, of: &str) -> Item {
    Item::new(Kind::Trace, id.as_ref(), Act::Trace(Arc::clone(id))).with(of)
}

/// One thing that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The thing.
    pub item: Item,
    /// Letters of its title that fit.
    pub places: Vec<usize>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Hits {
    /// The best.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: usize,
}

/// The best hits for a query. What was chosen lately comes first among what fits.
pub fn search(
    query: &str,
    choices: &[Item],
    data: &[Item],
    recent: &[Act],
    cancel: &Cancel,
) -> Hits {
    let query = Query::new(query);
    let mut found: Vec<(i32, &Item)> = Vec::new();
    let mut best = i32::MIN;
    for (at, item) in choices.iter().chain(data).enumerate() {
        if at % 1000 == 0 && cancel.is_cancelled() {
            break;
        }
        // Without a query only what a person would browse.
        let is_shown = !query.is_empty()
            || matches!(item.kind, Kind::Command | Kind::Cause)
            || recent.contains(&item.act);
        if let Some(score) = item.score(&query).filter(|_| is_shown) {
            best = best.max(score);
            let used = (0i32..).zip(recent).find(|(_, a)| **a == item.act);
            let used = used.map(|(at, _)| at);
            let bonus = match used {
                Some(at) if query.is_empty() => 100_000 - at,
                Some(at) => 160 - at.min(15) * 8,
                None if query.is_empty() => -score,
                None => 0,
            };
            found.push((score + bonus, item));
        }
    }
    if !query.is_empty() {
        // Letters that are strewn over a sentence are no hit beside a name that is meant.
        found.retain(|(score, _)| *score * 2 >= best);
    }
    let total = found.len();
    // Stable: what fits alike stays in its order, kind by kind.
    found.sort_by_key(|(score, item)| (std::cmp::Reverse(*score), item.kind));
    Hits {
        hits: found
            .into_iter()
            .take(if query.is_empty() { usize::MAX } else { SHOWN })
            .map(|(_, item)| Hit {
                places: query.places(&item.name),
                item: item.clone(),
            })
            .take(SHOWN.max(commands::ALL.len()))
            .collect(),
        total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(title: &str, id: CommandId) -> Item {
        Item::new(Kind::Command, title, Act::Command(id))
    }

    fn titles(hits: &Hits) -> Vec<&str> {
        hits.hits.iter().map(|h| h.item.title.as_str()).collect()
    }

    #[test]
    fn what_was_chosen_lately_comes_first() {
        let all = [
            command("Zoom in", CommandId::ZoomIn),
            command("Zoom out", CommandId::ZoomOut),
        ];
        let none = search("", &all, &[], &[], &Cancel::new());
        assert_eq!(titles(&none), ["Zoom in", "Zoom out"]);
        let recent = [Act::Command(CommandId::ZoomOut)];
        for query in ["", "zoom"] {
            let hits = search(query, &all, &[], &recent, &Cancel::new());
            assert_eq!(titles(&hits)[0], "Zoom out", "{query}");
        }
    }

    #[test]
    fn at_most_fifty_are_shown_and_all_are_counted() {
        let data: Vec<Item> = (0..500)
            .map(|n| {
                let act = Act::Table("series", n.to_string());
                Item::new(Kind::Series, format!("up{{pod=\"web-{n}\"}}"), act)
            })
            .collect();
        let hits = search("web", &[], &data, &[], &Cancel::new());
        assert_eq!((hits.hits.len(), hits.total), (SHOWN, 500));
        assert_eq!(search("", &[], &data, &[], &Cancel::new()).total, 0);
    }

    #[test]
    fn another_name_finds_it_too() {
        let all = [command("확대", CommandId::ZoomIn).also("zoom in")];
        let hits = search("zoom", &all, &[], &[], &Cancel::new());
        assert_eq!(titles(&hits), ["확대"]);
        // And one by the other language, whichever the window speaks.
        let all = [command("Zoom in", CommandId::ZoomIn)
            .also("zoom in")
            .also("확대")];
        let hits = search("확대", &all, &[], &[], &Cancel::new());
        assert_eq!(titles(&hits), ["Zoom in"]);
        assert!(hits.hits[0].places.is_empty());
    }
}
