//! A picture of what was measured.

use std::fmt::Write;

/// One thing that was measured.
pub(crate) struct Row {
    pub(crate) what: String,
    /// To starting a shell.
    pub(crate) ratio: f64,
    pub(crate) goal: Option<f64>,
}

const WIDTH: f64 = 860.0;
const LINE: f64 = 30.0;
/// The column of the bars, and the ratio that fills it.
const BARS: (f64, f64) = (420.0, 9.0);

/// Bars with their names and figures, a mark at each goal, and a line at 1.
pub(crate) fn draw(rows: &[Row]) -> String {
    let height = LINE * rows.iter().fold(2.0, |lines, _| lines + 1.0);
    let unit = (WIDTH - BARS.0 - 60.0) / BARS.1;
    let at = |ratio: f64| BARS.0 + ratio.min(BARS.1) * unit;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-weight=\"bold\">Time to starting `bash -c true`; shorter is better, | is the goal</text>\n"
    );
    for (row, number) in rows.iter().zip(1..) {
        let y = LINE * f64::from(number) + 6.0;
        let what = row.what.replace('&', "&amp;").replace('<', "&lt;");
        let colour = match row.goal {
            Some(goal) if row.ratio <= goal => "#2f855a",
            Some(_) => "#b7791f",
            None => "#a0aec0",
        };
        let length = at(row.ratio) - BARS.0;
        let (text, figure) = (y + 15.0, at(row.ratio) + 8.0);
        let _ = write!(
            svg,
            "<text x=\"10\" y=\"{text}\">{what}</text>\n\
             <rect x=\"{}\" y=\"{y}\" width=\"{length:.1}\" height=\"20\" fill=\"{colour}\"/>\n\
             <text x=\"{figure:.1}\" y=\"{text}\">{:.2}</text>\n",
            BARS.0, row.ratio
        );
        if let Some(goal) = row.goal {
            let (x, end) = (at(goal), y + 23.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{end:.1}\" stroke=\"black\" stroke-width=\"2\"/>",
                y - 3.0
            );
        }
    }
    let (one, top, bottom) = (at(1.0), LINE, height - 10.0);
    let _ = writeln!(
        svg,
        "<line x1=\"{one:.1}\" y1=\"{top}\" x2=\"{one:.1}\" y2=\"{bottom:.1}\" stroke=\"#718096\" stroke-dasharray=\"4 3\"/>\n</svg>"
    );
    svg
}
