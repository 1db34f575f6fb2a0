//! How well a few typed letters fit a name: they must stand in it in order; what begins a word or follows on counts more.

/// Points of one letter.
const LETTER: i32 = 8;
/// More, when it begins a word.
const WORD_START: i32 = 10;
/// More, when it is the very first.
const FIRST: i32 = 6;
/// More, when it follows the letter before.
const FOLLOWS: i32 = 12;
/// Less for each letter that is skipped, up to a bound.
const SKIP: i32 = 1;
/// The most that one gap costs.
const MOST_SKIPPED: i32 = 6;
/// Longer names are looked at only so far: a label of 10,000 letters must not hold the search up.
const LONGEST: usize = 240;

/// A name made ready to be searched.
#[derive(Debug, Clone)]
pub struct Name {
    lower: Vec<char>,
    starts: Vec<bool>,
}

impl Name {
    /// Makes it ready.
    pub fn new(text: &str) -> Self {
        let letters: Vec<char> = text.chars().take(LONGEST).collect();
        let mut before = ' ';
        let mut starts = Vec::with_capacity(letters.len());
        let mut lower = Vec::with_capacity(letters.len());
        for letter in letters {
            let is_turn = before.is_lowercase() && letter.is_uppercase();
            starts.push(letter.is_alphanumeric() && (!before.is_alphanumeric() || is_turn));
            lower.push(lowered(letter));
            before = letter;
        }
        Self { lower, starts }
    }
}

/// One letter stays one letter, so that places in the name hold.
fn lowered(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

/// A query made ready: words that must all fit, in any order.
#[derive(Debug, Clone, Default)]
pub struct Query {
    words: Vec<Vec<char>>,
}

impl Query {
    /// Makes it ready.
    pub fn new(text: &str) -> Self {
        Self {
            words: text
                .split_whitespace()
                .map(|w| w.chars().map(lowered).collect())
                .collect(),
        }
    }

    /// Whether nothing was typed: everything fits.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well it fits; `None` when it does not.
    pub fn score(&self, name: &Name) -> Option<i32> {
        let mut total = 0;
        for word in &self.words {
            total += best(word, name)?.0;
        }
        // Of two that fit alike the shorter is meant.
        Some(total * 16 - small(name.lower.len()) / 4)
    }

    /// Places of the letters that fit, in order, for drawing them bright.
    pub fn places(&self, name: &Name) -> Vec<usize> {
        let mut all: Vec<usize> = self
            .words
            .iter()
            .filter_map(|word| best(word, name))
            .flat_map(|(_, places)| places)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The best way to find a word in a name: points and places.
fn best(word: &[char], name: &Name) -> Option<(i32, Vec<usize>)> {
    let len = name.lower.len();
    if word.is_empty() || word.len() > len || !stands_in(word, &name.lower) {
        return None;
    }
    // For each letter of the word and each place of the name: the most points when the letter stands there, and where the letter
    // before stands then.
    let mut table: Vec<Vec<Option<(i32, usize)>>> = Vec::with_capacity(word.len());
    for letter in word {
        let mut row = Vec::with_capacity(len);
        // The best of the letters before that stand left of here, less what lies between.
        let mut carried: Option<(i32, usize)> = None;
        for (at, here) in name.lower.iter().enumerate() {
            let mut cell = None;
            if here == letter {
                let own = points(name, at);
                cell = match table.last() {
                    None => Some((own - small(at).min(MOST_SKIPPED) * SKIP, 0)),
                    Some(above) => {
                        let follows = at.checked_sub(1).and_then(|b| {
                            let (points, _) = (*above.get(b)?)?;
                            Some((points + FOLLOWS, b))
                        });
                        let jumps = carried.map(|(points, b)| {
                            let gap = small(at - b - 1).min(MOST_SKIPPED);
                            (points - gap * SKIP, b)
                        });
                        let way = [follows, jumps].into_iter().flatten().max_by_key(|w| w.0);
                        way.map(|(points, b)| (points + own, b))
                    }
                };
            }
            if let Some(Some((points, _))) = table.last().and_then(|above| above.get(at))
                && carried.is_none_or(|(best, b)| *points >= best - small(at - b) * SKIP)
            {
                carried = Some((*points, at));
            }
            row.push(cell);
        }
        table.push(row);
    }
    trace_back(&table)
}

/// A place in a name as points; names are no longer than [`LONGEST`].
fn small(n: usize) -> i32 {
    i32::try_from(n.min(LONGEST)).unwrap_or_default()
}

fn points(name: &Name, at: usize) -> i32 {
    let starts = name.starts.get(at).copied().unwrap_or(false);
    LETTER + if starts { WORD_START } else { 0 } + if at == 0 { FIRST } else { 0 }
}

fn stands_in(word: &[char], name: &[char]) -> bool {
    let mut rest = name.iter();
    word.iter().all(|letter| rest.any(|c| c == letter))
}

fn trace_back(table: &[Vec<Option<(i32, usize)>>]) -> Option<(i32, Vec<usize>)> {
    let (mut at, score) = table
        .last()?
        .iter()
        .enumerate()
        .filter_map(|(at, cell)| Some((at, (*cell)?.0)))
        // Of equal ways the leftmost.
        .max_by_key(|(at, score)| (*score, std::cmp::Reverse(*at)))?;
    let mut places = Vec::with_capacity(table.len());
    for row in table.iter().rev() {
        places.push(at);
        at = (*row.get(at)?)?.1;
    }
    places.reverse();
    Some((score, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank<'a>(query: &str, names: &[&'a str]) -> Vec<&'a str> {
        let query = Query::new(query);
        let mut hits: Vec<(i32, &str)> = names
            .iter()
            .filter_map(|n| Some((query.score(&Name::new(n))?, *n)))
            .collect();
        hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        hits.into_iter().map(|(_, n)| n).collect()
    }

    #[test]
    fn the_begins_of_words_win() {
        let names = ["Azimuth ink", "Zoom in", "Zoom out", "Show inputs"];
        assert_eq!(rank("zi", &names)[0], "Zoom in");
        assert_eq!(rank("zoom", &names), ["Zoom in", "Zoom out"]);
        assert_eq!(
            rank("gcp", &["go_gc_pauses", "magic_prefix_cap"])[0],
            "go_gc_pauses"
        );
    }

    #[test]
    fn letters_together_beat_letters_apart_and_short_beats_long() {
        assert_eq!(
            rank("lane", &["Last analysed entry", "Add lane"])[0],
            "Add lane"
        );
        assert_eq!(
            rank("undo", &["Undo everything at once", "Undo"])[0],
            "Undo"
        );
    }

    #[test]
    fn words_come_in_any_order_and_all_must_fit() {
        assert_eq!(rank("in zoom", &["Zoom in", "Zoom out"]), ["Zoom in"]);
        assert!(rank("zoom xyz", &["Zoom in"]).is_empty());
        assert_eq!(
            rank("확대", &["측정 구간으로 확대", "축소"]),
            ["측정 구간으로 확대"]
        );
    }

    #[test]
    fn the_places_are_those_of_the_best_way() {
        let name = Name::new("go to next gap");
        assert_eq!(Query::new("gap").places(&name), [11, 12, 13]);
        assert_eq!(Query::new("gn").places(&name), [0, 6]);
        assert!(Query::new("q").places(&name).is_empty());
        assert_eq!(Query::new("").score(&name), Some(-3));
    }
}
