//! Contrast by WCAG 2.2 (relative luminance, success criteria 1.4.3 and 1.4.11); colour-blindness by the matrices of Machado,
//! Oliveira and Fernandes (2009), severity 1.0; difference as CIE76 in Lab.

use super::*;

fn linear(c: u8) -> f64 {
    let c = f64::from(c) / 255.0;
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

fn rgb_of(c: Color32) -> [f64; 3] {
    [linear(c.r()), linear(c.g()), linear(c.b())]
}

fn luminance(c: Color32) -> f64 {
    let [r, g, b] = rgb_of(c);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn ratio(a: Color32, b: Color32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

const NORMAL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTAN: [[f64; 3]; 3] = [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
];
const DEUTAN: [[f64; 3]; 3] = [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_820, 0.042_940, 0.968_881],
];
const TRITAN: [[f64; 3]; 3] = [
    [1.255_528, -0.076_749, -0.178_779],
    [-0.078_411, 0.930_809, 0.147_602],
    [0.004_733, 0.691_367, 0.303_900],
];

fn lab(c: Color32, eye: &[[f64; 3]; 3]) -> [f64; 3] {
    let rgb = rgb_of(c);
    let seen: Vec<f64> = eye
        .iter()
        .map(|row| (0..3).map(|i| row[i] * rgb[i]).sum::<f64>().clamp(0.0, 1.0))
        .collect();
    let white = [0.9505, 1.0, 1.089];
    let to_xyz = [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ];
    let curve = |t: f64| {
        if t > 0.008_856 {
            t.cbrt()
        } else {
            7.787 * t + 16.0 / 116.0
        }
    };
    let f: Vec<f64> = (0..3)
        .map(|i| curve((0..3).map(|j| to_xyz[i][j] * seen[j]).sum::<f64>() / white[i]))
        .collect();
    [
        116.0 * f[1] - 16.0,
        500.0 * (f[0] - f[1]),
        200.0 * (f[1] - f[2]),
    ]
}

fn distance(a: Color32, b: Color32, eye: &[[f64; 3]; 3]) -> f64 {
    let (a, b) = (lab(a, eye), lab(b, eye));
    a.iter()
        .zip(&b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

#[test]
fn text_can_be_read_on_every_ground() {
    for theme in Theme::ALL {
        let t = Tokens::of(theme);
        for ground in [t.ground, t.panel, t.raised] {
            for (name, colour) in [
                ("text", t.text),
                ("text_dim", t.text_dim),
                ("text_faint", t.text_faint),
                ("accent", t.accent),
                ("error", t.error),
                ("warning", t.warning),
                ("good", t.good),
            ] {
                let ratio = ratio(colour, ground);
                assert!(ratio >= 4.5, "{theme:?} {name} on {ground:?}: {ratio:.2}");
            }
        }
        for ground in [t.hover, t.selected] {
            for colour in [t.text, t.text_dim] {
                assert!(ratio(colour, ground) >= 4.5, "{theme:?} on {ground:?}");
            }
        }
        assert!(ratio(t.on_accent, t.accent) >= 4.5, "{theme:?} on_accent");
    }
}

#[test]
fn marks_stand_out_from_the_ground() {
    for theme in Theme::ALL {
        let t = Tokens::of(theme);
        for colour in t
            .series
            .iter()
            .chain(&t.severity)
            .chain([&t.cursor, &t.highlight, &t.others])
        {
            let ratio = ratio(*colour, t.ground);
            assert!(ratio >= 3.0, "{theme:?} {colour:?}: {ratio:.2}");
        }
    }
}

#[test]
fn high_contrast_is_higher() {
    let t = Tokens::of(Theme::Contrast);
    for colour in [t.text, t.text_dim, t.text_faint, t.accent] {
        assert!(ratio(colour, t.ground) >= 7.0);
    }
}

/// 8 is well above the just noticeable difference of about 2.3 (Mahy, Van Eycken and Oosterlinck 1994).
#[test]
fn colours_are_told_apart_by_every_eye() {
    for theme in Theme::ALL {
        let t = Tokens::of(theme);
        for (name, set) in [("series", &t.series[..]), ("severity", &t.severity[..])] {
            for (eye_name, eye) in [
                ("normal", NORMAL),
                ("protan", PROTAN),
                ("deutan", DEUTAN),
                ("tritan", TRITAN),
            ] {
                for (i, a) in set.iter().enumerate() {
                    for (j, b) in set.iter().enumerate().skip(i + 1) {
                        let d = distance(*a, *b, &eye);
                        assert!(
                            d >= 8.0,
                            "{theme:?} {name} {i} and {j} for {eye_name}: {d:.1}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_difference_is_told_apart_by_every_eye_and_carries_text() {
    for theme in Theme::ALL {
        let t = Tokens::of(theme);
        for eye in [NORMAL, PROTAN, DEUTAN, TRITAN] {
            for (a, b) in [
                (t.diff_less, t.diff_more),
                (t.diff_less, t.diff_same),
                (t.diff_more, t.diff_same),
                (t.diff(-0.5), t.diff(0.5)),
            ] {
                let d = distance(a, b, &eye);
                assert!(d >= 8.0, "{theme:?} {a:?} and {b:?}: {d:.1}");
            }
        }
        for lean in [-1.0, -0.6, -0.2, 0.0, 0.2, 0.6, 1.0] {
            let ratio = ratio(t.text, t.diff(lean));
            assert!(ratio >= 4.5, "{theme:?} text at {lean}: {ratio:.2}");
        }
        for end in [t.diff_less, t.diff_more] {
            assert!(ratio(end, t.ground) >= 3.0, "{theme:?} {end:?}");
        }
        for at in 0..t.series.len() {
            let ratio = ratio(t.text, t.fill(at));
            assert!(ratio >= 4.5, "{theme:?} text on fill {at}: {ratio:.2}");
        }
    }
}
