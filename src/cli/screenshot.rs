//! `tailscope screenshot`: draws the real window without a display.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::app::Start;
use crate::app::shot::{Shot, ShotError, picture};
use crate::cli::Exit;
use crate::cli::args::{Reading, Span};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::window;
use crate::engine::load::Opening;
use crate::session::settings::{Lang, Settings, Theme};
use crate::session::view::Drawer;

/// Arguments of `screenshot`.
#[derive(Debug, Args)]
pub(super) struct Screenshot {
    /// Folders, files, archives, patterns
    #[arg(value_name = "PATH", required_unless_present_any = ["view"])]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    span: Span,
    /// The picture, a PNG file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Width and height in points
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = size)]
    size: (u32, u32),
    /// Pixels for each point
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = scale)]
    scale: f32,
    /// Colours
    #[arg(long, value_enum, default_value_t = ThemeName::Dark)]
    theme: ThemeName,
    /// Language
    #[arg(long, value_enum, default_value_t = LangName::En)]
    lang: LangName,
    /// What lies open below the timeline
    #[arg(long, value_enum, default_value_t = ViewName::Timeline)]
    view: ViewName,
    /// Pick a hypothesis or a finding, by id; `first` is the best hypothesis
    #[arg(long, value_name = "ID")]
    select: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ThemeName {
    /// For the night
    Dark,
    /// For the day
    Light,
    /// As much contrast as there is
    Contrast,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LangName {
    /// English
    En,
    /// Korean
    Ko,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ViewName {
    /// The welcome page
    Start,
    /// The timeline alone
    Timeline,
    /// A trace
    Trace,
    /// Dumps and profiles
    Dump,
    /// Tables and SQL
    Table,
    /// Two windows or inputs
    Compare,
    /// The incident timeline and notes
    Notes,
    /// What was read
    Inputs,
}

impl ViewName {
    const fn drawer(self) -> Option<Drawer> {
        match self {
            Self::Start | Self::Timeline => None,
            Self::Trace => Some(Drawer::Trace),
            Self::Dump => Some(Drawer::Dump),
            Self::Table => Some(Drawer::Table),
            Self::Compare => Some(Drawer::Compare),
            Self::Notes => Some(Drawer::Notes),
            Self::Inputs => Some(Drawer::Inputs),
        }
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parsed = text
        .split_once(['x', 'X'])
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parsed {
        Some((w, h)) if (320..=7680).contains(&w) && (200..=4320).contains(&h) => Ok((w, h)),
        Some(_) => Err("give a size from 320x200 to 7680x4320".to_owned()),
        None => Err("give width and height, as in 1280x800".to_owned()),
    }
}

fn scale(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(scale) if (0.5..=4.0).contains(&scale) => Ok(scale),
        _ => Err("give a number from 0.5 to 4".to_owned()),
    }
}

pub(super) fn run(command: &Screenshot, out: &mut Out) -> Result<Exit, CliError> {
    if command.paths.is_empty() && command.view != ViewName::Start {
        return Err(CliError::usage("there is nothing to draw without an input")
            .hint("name a recording, or draw the welcome page with `--view start`"));
    }
    let paths = if command.view == ViewName::Start {
        Vec::new()
    } else {
        command.paths.clone()
    };
    let theme = match command.theme {
        ThemeName::Dark => Theme::Dark,
        ThemeName::Light => Theme::Light,
        ThemeName::Contrast => Theme::Contrast,
    };
    let lang = match command.lang {
        LangName::En => Lang::En,
        LangName::Ko => Lang::Ko,
    };
    let (width, height) = command.size;
    let shot = Shot {
        start: Start {
            opening: Opening {
                paths,
                options: command.reading.options()?,
                asked: command.span.asked(&command.reading)?,
                ..Opening::default()
            },
            settings: Settings {
                theme,
                lang,
                ..Settings::default()
            },
            sample_places: window::sample_places(),
            ..Start::default()
        },
        size: [width as f32, height as f32],
        pixels_per_point: command.scale,
        drawer: command.view.drawer(),
        select: command.select.clone(),
    };
    let picture = picture(&shot).map_err(failed)?;
    out.result(Some(&command.output), &picture.png)?;
    Ok(if picture.is_partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}

fn failed(error: ShotError) -> CliError {
    let text = error.to_string();
    match error {
        ShotError::Unknown(_) => CliError::usage(text)
            .hint("`tailscope analyze PATH… --format json` lists all ids; `first` is the best hypothesis"),
        ShotError::Nothing(why) => {
            let error = CliError::new(Exit::Nothing, text);
            why.into_iter().take(5).fold(error, |e, line| e.hint(line))
        }
        ShotError::Driver(_) | ShotError::Png(_) => CliError::new(Exit::Lacks, text)
            .hint("Mesa's software drivers will do: install mesa-vulkan-drivers (or libegl1 and libgl1-mesa-dri)"),
    }
}
