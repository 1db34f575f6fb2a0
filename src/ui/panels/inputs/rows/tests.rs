//! Tests of the module above.

use super::*;
use crate::base::reporter::Warning;

fn input(path: &str, warnings: &[(&str, bool)]) -> Input {
    Input {
        id: path.to_owned(),
        path: path.to_owned(),
        format: "x".to_owned(),
        sha256: String::new(),
        counts: Counts {
            samples: 2,
            ..Counts::default()
        },
        start: None,
        end: None,
        warnings: warnings
            .iter()
            .map(|(code, lossy)| Warning {
                code: (*code).to_owned(),
                text: format!("text of {code}"),
                at: None,
                lossy: *lossy,
            })
            .collect(),
    }
}

#[test]
fn problems_come_first_and_the_filter_looks_into_warnings() {
    let inputs = [
        input("a", &[]),
        input("b", &[("note", false)]),
        input("c", &[("cut", true), ("note", false)]),
    ];
    let order = |asked: &Asked| {
        let rows = Rows::of(&inputs, asked);
        assert_eq!((rows.lost, rows.noted, rows.held), (1, 1, 6));
        assert_eq!(rows.tops.len(), rows.all.len() + 1);
        rows.all.iter().map(|r| r.input).collect::<Vec<_>>()
    };
    let mut asked = Asked::default();
    assert_eq!(order(&asked), [2, 1, 0]);
    asked.only_warned = true;
    assert_eq!(order(&asked), [2, 1]);
    asked.filter = "TEXT cut".to_owned();
    assert_eq!(order(&asked), [2]);
    asked.filter = "nothing".to_owned();
    assert!(order(&asked).is_empty());
}

#[test]
fn an_open_row_has_room_for_all_its_warnings() {
    let inputs = [input("c", &[("cut", true), ("note", false)])];
    let asked = Asked {
        open: BTreeSet::from([0]),
        ..Asked::default()
    };
    let rows = Rows::of(&inputs, &asked);
    assert!((rows.height() - (ROW + 2.0 * WARNING + FOOT)).abs() < 0.01);
    assert_eq!(rows.between(0.0, 1.0), 0..1);
}
