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
fn an_open_row_has_room_for_all_lines_of_all_its_warnings() {
    let inputs = [
        input("c", &[("cut", true), ("note", false)]),
        input("d", &[]),
    ];
    let asked = Asked {
        open: BTreeSet::from([0]),
        ..Asked::default()
    };
    let rows = Rows::of(&inputs, &asked);
    // The first text takes one line, the second three.
    let tops = rows.tops(&inputs, |warning| {
        if warning.text.ends_with("cut") {
            15.0
        } else {
            45.0
        }
    });
    let open = ROW + 15.0 + 45.0 + 2.0 * WARNING + FOOT;
    assert_eq!(tops, [0.0, open, open + ROW]);
    assert_eq!(between(&tops, 0.0, 1.0), 0..1);
    assert_eq!(between(&tops, open + 1.0, open + 2.0), 1..2);
    assert_eq!(between(&[0.0], 0.0, 9.0), 0..0);
}
