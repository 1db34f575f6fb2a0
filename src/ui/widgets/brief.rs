//! Names that are too long for their place, shortened by what they say: what many have alike goes first, what tells them apart
//! stays.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Letters that long names of a sentence keep, step by step as the room gets less; before the first, import paths lose what
/// programmers do not say.
const KEPT: [usize; 4] = [30, 24, 20, 17];
/// How many steps [`sentence`] knows.
pub const STEPS: usize = KEPT.len() + 2;
/// Where even the shortest names leave no room for the whole sentence, they stand like this and the sentence is cut.
pub const CUT: usize = 3;
/// What leaving out the end of a name costs on top: that is where one looks for what it is.
const END: f64 = 1.0;
/// What one more ellipsis costs, as much as a word that every third name has.
const ELLIPSIS: f64 = 1.1;
/// Ways to shorten a name that are looked at, the cheapest first, for one that fits no other name.
const TRIED: usize = 400;
/// Parts of a name beyond which it is cut in its middle, whatever stands there.
const PARTS: usize = 40;
/// Shortened names that are kept.
const CACHED: usize = 4_096;

/// A sentence whose long names are shortened: step 0 is the whole, each further one is shorter.
pub fn sentence(text: &str, step: usize) -> String {
    if step == 0 {
        return text.to_owned();
    }
    let kept = step.checked_sub(2).and_then(|at| KEPT.get(at)).copied();
    let words = text.split(' ').map(|word| {
        let is_edge = |c: char| matches!(c, '(' | ')' | '"' | '`' | '“' | '”' | ',' | ';' | '.');
        let core = word.trim_matches(is_edge);
        // `(*summary).Observe)` ends in a bracket of the sentence, `f()` in its own.
        let Some(at) = word.find(core).filter(|_| !core.is_empty()) else {
            return word.to_owned();
        };
        let (before, rest) = word.split_at(at);
        let (core, after) = rest.split_at(core.len());
        let core = spoken(core);
        let core = kept.map_or_else(|| core.to_owned(), |kept| ends(core, kept));
        format!("{before}{core}{after}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `github.com/x/y/pkg.(*T).Method` as `pkg.(*T).Method`.
fn spoken(word: &str) -> &str {
    let Some((host, _)) = word.split_once('/') else {
        return word;
    };
    let is_import = host.contains('.') && !host.contains(':');
    match word.rsplit_once('/') {
        Some((_, last)) if is_import && !last.is_empty() => last,
        _ => word,
    }
}

/// Begin and end of a long name, cut between its parts where that is near.
fn ends(word: &str, kept: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= kept {
        return word.to_owned();
    }
    let is_border = |at: usize| {
        letters
            .get(at)
            .is_some_and(|c| matches!(c, '-' | '_' | '/' | '.' | ':'))
    };
    let room = kept.saturating_sub(1);
    // Names differ at their ends more than at their begins.
    let most_head = room / 3;
    let most_tail = room - most_head;
    let least = |most: usize| most.div_ceil(2).max(1);
    let head = (least(most_head)..=most_head)
        .rev()
        .find(|at| is_border(*at))
        .unwrap_or(most_head);
    // What the head did not need is the tail's.
    let most_tail = most_tail + (most_head - head);
    let first = letters.len() - most_tail;
    let tail = (first..letters.len() - least(most_tail))
        .find(|at| is_border(*at))
        .unwrap_or(first);
    let begin: String = letters.iter().take(head).collect();
    let end: String = letters.iter().skip(tail).collect();
    format!("{begin}…{end}")
}

/// How much each part of a name tells: little when many names have it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Names {
    all: BTreeSet<String>,
    weights: BTreeMap<String, f64>,
}

impl Names {
    /// Counts the parts of all names that stand beside each other.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut found: BTreeMap<String, f64> = BTreeMap::new();
        let all: BTreeSet<String> = names.map(str::to_owned).collect();
        let n = all.len() as f64;
        for name in &all {
            let parts: BTreeSet<&str> = parts(name).into_iter().map(word_of).collect();
            for part in parts.into_iter().filter(|p| !p.is_empty()) {
                match found.get_mut(part) {
                    Some(known) => *known += 1.0,
                    None => {
                        found.insert(part.to_owned(), 1.0);
                    }
                }
            }
        }
        for count in found.values_mut() {
            *count = ((n + 1.0) / *count).ln();
        }
        Self {
            all,
            weights: found,
        }
    }

    /// The name in at most `room` letters: one or two stretches are left out, those that tell least, so that it cannot be taken
    /// for another.
    pub fn fit(&self, name: &str, room: usize) -> String {
        let parts = parts(name);
        let letters: Vec<usize> = parts.iter().map(|p| p.chars().count()).collect();
        let total: usize = letters.iter().sum();
        if total <= room {
            return name.to_owned();
        }
        if parts.len() > PARTS {
            return ends(name, room);
        }
        let mut costs = Vec::with_capacity(parts.len());
        for part in &parts {
            let word = word_of(part);
            // Of names that nobody counted every part tells as much.
            let known = self.weights.get(word).copied().unwrap_or(1.0);
            costs.push(if word.is_empty() { 0.0 } else { known });
        }
        if let Some(last) = costs.last_mut() {
            *last += END;
        }
        let ways = cheapest(&letters, &costs, room);
        let is_alone = |runs: &Vec<Run>| {
            let kept = kept(&parts, runs);
            let others = self.all.iter().filter(|other| *other != name);
            !others.into_iter().any(|other| fits(other, &kept))
        };
        let tried = ways.iter().take(TRIED);
        let Some(runs) = tried.clone().find(|w| is_alone(w)).or_else(|| ways.first()) else {
            return ends(name, room);
        };
        kept(&parts, runs).join("…")
    }
}

/// What is left of a name between the stretches that are left out.
fn kept(parts: &[&str], runs: &[Run]) -> Vec<String> {
    let mut out = Vec::with_capacity(runs.len() + 1);
    let mut from = 0;
    for (start, end) in runs {
        out.push(parts.get(from..*start).unwrap_or_default().concat());
        from = *end;
    }
    out.push(parts.get(from..).unwrap_or_default().concat());
    out
}

/// Whether a name could be what is left of it.
fn fits(name: &str, kept: &[String]) -> bool {
    let [first, middle @ .., last] = kept else {
        return false;
    };
    let Some(mut rest) = name.strip_prefix(first.as_str()) else {
        return false;
    };
    for piece in middle {
        let Some((_, after)) = rest.split_once(piece.as_str()) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last.as_str())
}

/// A stretch of parts that is left out.
type Run = (usize, usize);

/// Ways to leave one or two stretches out so that the rest fits, the cheapest first.
fn cheapest(letters: &[usize], costs: &[f64], room: usize) -> Vec<Vec<Run>> {
    let n = letters.len();
    let sums = |from: usize, to: usize| {
        let length: usize = letters.get(from..to).unwrap_or_default().iter().sum();
        let cost: f64 = costs.get(from..to).unwrap_or_default().iter().sum();
        (length, cost)
    };
    let total: usize = letters.iter().sum();
    let mut ways: Vec<(f64, Vec<Run>)> = Vec::new();
    let mut offer = |cost: f64, runs: &[Run]| ways.push((cost, runs.to_vec()));
    for from in 0..n {
        for to in from + 1..=n {
            if (from, to) == (0, n) {
                continue;
            }
            let (length, cost) = sums(from, to);
            let cost = cost + ELLIPSIS;
            if total - length < room {
                offer(cost, &[(from, to)]);
                continue;
            }
            for second in to + 1..n {
                let end = (second + 1..=n).find(|end| {
                    let (more, _) = sums(second, *end);
                    total - length - more + 2 <= room
                });
                if let Some(end) = end {
                    let (_, more) = sums(second, end);
                    offer(cost + more + ELLIPSIS, &[(from, to), (second, end)]);
                }
            }
        }
    }
    ways.sort_by(|a, b| a.0.total_cmp(&b.0));
    ways.into_iter().map(|(_, runs)| runs).collect()
}

/// A name in parts: each ends with what separates it from the next.
fn parts(name: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut is_after = false;
    for (at, c) in name.char_indices() {
        let is_separator = !c.is_alphanumeric();
        if is_after && !is_separator {
            found.extend(name.get(from..at));
            from = at;
        }
        is_after = is_separator;
    }
    found.extend(name.get(from..).filter(|rest| !rest.is_empty()));
    found
}

fn word_of(part: &str) -> &str {
    part.trim_end_matches(|c: char| !c.is_alphanumeric())
}

/// Shortened names by their place: they are asked for in every frame.
#[derive(Debug, Default)]
pub struct Shortened {
    by_room: RefCell<BTreeMap<(u32, String), String>>,
}

impl Shortened {
    /// Forgets them: they stand beside others now.
    pub fn clear(&self) {
        self.by_room.borrow_mut().clear();
    }

    /// The name as it fits into `width` points, where `measure` says how wide a text is.
    pub fn fit(
        &self,
        names: &Names,
        name: &str,
        width: f32,
        measure: impl Fn(&str) -> f32,
    ) -> String {
        let key = (width.max(0.0) as u32, name.to_owned());
        if let Some(known) = self.by_room.borrow().get(&key) {
            return known.clone();
        }
        let mut text = name.to_owned();
        let mut room = name.chars().count();
        let mut wide = measure(&text);
        while wide > width && room > 3 {
            let mean = wide / text.chars().count().max(1) as f32;
            let fits = (width / mean.max(1.0)) as usize;
            room = fits.min(room - 1).max(3);
            text = names.fit(name, room);
            wide = measure(&text);
        }
        let mut known = self.by_room.borrow_mut();
        if known.len() >= CACHED {
            known.clear();
        }
        known.insert(key, text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_loses_paths_first_and_then_the_middle_of_long_names() {
        let text = "Lock contention at github.com/prometheus/client_golang/prometheus.(*summary).Observe starves the scrapes of \
                    ingress-nginx-controller-6b9d5c4f7-x2k4v";
        assert_eq!(sentence(text, 0), text);
        assert_eq!(
            sentence(text, 1),
            "Lock contention at prometheus.(*summary).Observe starves the scrapes of ingress-nginx-controller-6b9d5c4f7-x2k4v"
        );
        let shortest = sentence(text, STEPS - 1);
        assert!(shortest.contains("Lock contention at "), "{shortest}");
        assert!(shortest.ends_with("-x2k4v"), "{shortest}");
        assert!(shortest.chars().count() < 80, "{shortest}");
        for step in 1..STEPS {
            assert!(
                sentence(text, step).chars().count() <= sentence(text, step - 1).chars().count()
            );
        }
        assert_eq!(
            sentence("GET /api/v1/users/list", 1),
            "GET /api/v1/users/list"
        );
        assert_eq!(sentence("https://a.b/c", 1), "https://a.b/c");
        assert_eq!(sentence("소켓 (net.Dial),", 5), "소켓 (net.Dial),");
        assert_eq!(sentence("", 3), "");
        assert_eq!(sentence(") ( .", 3), ") ( .");
    }

    #[test]
    fn what_many_names_share_goes_first() {
        let all = [
            "namedprocess_namegroup_open_filedesc · nginx-worker",
            "namedprocess_namegroup_open_filedesc · nginx-ingress-controller",
            "namedprocess_namegroup_num_threads · nginx-ingress-controller",
            "namedprocess_namegroup_num_threads · nginx-worker",
            "namedprocess_namegroup_memory_bytes · nginx-ingress-controller · resident",
            "namedprocess_namegroup_memory_bytes · nginx-ingress-controller · virtual",
            "go_memstats_stack_inuse_bytes · ingress-nginx-controller-6b9d5c4f7-x2k4v",
            "go_memstats_stack_inuse_bytes · ingress-nginx-controller-6b9d5c4f7-q8wzn",
        ];
        let names = Names::of(all.into_iter());
        for room in [20, 24, 30, 36] {
            let shown: BTreeSet<String> = all.iter().map(|n| names.fit(n, room)).collect();
            assert_eq!(shown.len(), all.len(), "{room}: {shown:#?}");
            assert!(
                shown.iter().all(|s| s.chars().count() <= room),
                "{shown:#?}"
            );
        }
        let shown = names.fit(all[0], 36);
        assert!(
            shown.contains("open_filedesc") && shown.contains("worker"),
            "{shown}"
        );
        assert_eq!(names.fit("short", 5), "short");
        assert_eq!(Names::default().fit("abcdefghijk", 5), "a…ijk");
    }

    #[test]
    fn a_place_of_any_width_gets_something() {
        let shortened = Shortened::default();
        let names = Names::default();
        let measure = |t: &str| t.chars().count() as f32 * 6.0;
        for width in [-1.0, 0.0, 5.0, 60.0, 1e6] {
            let text = shortened.fit(
                &names,
                "scrape_duration_seconds · node-1:9256",
                width,
                measure,
            );
            assert!(!text.is_empty());
            assert!(width < 30.0 || measure(&text) <= width, "{text} at {width}");
        }
    }
}
