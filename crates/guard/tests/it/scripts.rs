//! Random scripts that are valid bash and harmless: every command in them is called `c` and a number and does not
//! exist, every word that is only text begins with `t`.

/// A small generator of numbers, the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.roll(choices.len())]
    }
}

/// Writes one script.
pub(crate) struct Writer<'a> {
    dice: &'a mut Dice,
    text: String,
    /// Bodies of here-documents that begin after the next newline.
    bodies: Vec<String>,
    /// Inside a substitution everything stays on one line.
    one_line: bool,
    functions: usize,
}

pub(crate) fn script(dice: &mut Dice) -> String {
    let mut writer = Writer { dice, text: String::new(), bodies: vec![], one_line: false, functions: 0 };
    writer.list(3);
    writer.newline();
    writer.text.push_str("wait\n");
    writer.text
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn newline(&mut self) {
        if self.one_line {
            return self.put("; ");
        }
        if self.dice.roll(8) == 0 {
            self.put(" # t1 isn't \"closed $( ` {");
        }
        self.put("\n");
        for body in std::mem::take(&mut self.bodies) {
            self.put(&body);
        }
    }

    fn blank(&mut self) {
        let blank = if self.one_line {
            " "
        } else {
            self.dice.pick(&[" ", " ", " ", "  ", "\t", " \\\n", " \\\n  "])
        };
        self.put(blank);
    }

    fn list(&mut self, depth: usize) {
        for index in 0..=self.dice.roll(3) {
            if index > 0 {
                match self.dice.roll(8) {
                    0 => self.put("; "),
                    1 => self.put(" && "),
                    2 => self.put(" || "),
                    3 => self.put(" & "),
                    4 if !self.one_line && self.bodies.is_empty() => self.put(" &&\n"),
                    _ => self.newline(),
                }
            }
            self.pipeline(depth);
        }
    }

    fn pipeline(&mut self, depth: usize) {
        match self.dice.roll(14) {
            0 => self.put("! "),
            1 => self.put("time "),
            _ => {}
        }
        self.command(depth);
        for _ in 0..self.dice.roll(4).saturating_sub(1) {
            let pipe = if self.one_line || !self.bodies.is_empty() {
                " | "
            } else {
                self.dice.pick(&[" | ", "|", " |& ", " |\n"])
            };
            self.put(pipe);
            self.command(depth);
        }
    }

    fn command(&mut self, depth: usize) {
        if depth == 0 {
            return self.simple(0);
        }
        match self.dice.roll(22) {
            0 => self.enclosed("{ ", depth, " }"),
            1 => self.enclosed("( ", depth, ")"),
            2 => {
                self.enclosed("if ", depth, "then ");
                self.body(depth);
                self.put("fi");
            }
            3 => {
                self.enclosed("if ", depth, "then ");
                self.body(depth);
                self.put("else ");
                self.body(depth);
                self.put("fi");
            }
            4 => {
                let word = self.dice.pick(&["while ", "until "]);
                self.enclosed(word, depth, "do ");
                self.body(depth);
                self.put("break; done");
            }
            5 => {
                self.put("for v in");
                self.words(depth);
                self.put("; do ");
                self.body(depth);
                self.put("done");
            }
            6 => {
                self.put("case t1 in t2) ");
                self.body(depth);
                self.put(";; (t1|t3) ");
                self.body(depth);
                self.put(";; *) ");
                self.body(depth);
                self.put("esac");
            }
            7 => {
                self.functions += 1;
                let name = format!("f{}_{}", depth, self.functions);
                self.put(&format!("{name}() {{ "));
                self.body(depth);
                self.put(&format!("}}; {name}"));
            }
            8 => self.put("[[ t1 == t* && ( -n t2 || t3 =~ ^(t|(t4))$ ) ]]"),
            9 => {
                self.put("(( 1 + ");
                self.substitution(depth);
                self.put("0 ))");
            }
            10 => {
                let text = self.dice.pick(&["t1", "\"t 2\"", "t\\;3", "t#4"]);
                let next = if self.one_line { ";" } else { " #t\n" };
                self.put(&format!("eval 'c7 {text}{next}c8'"));
            }
            11 => self.put("/bin/bash -c 'c5 \"$1\"; (c6)' t0 t1"),
            12 => self.put("trap 'c9 t1' EXIT"),
            13 if !self.one_line => {
                self.put("/bin/bash <<'T_END'");
                self.bodies.push("c4 t1 # c0 is text here\nif c3; then c2; fi\nT_END\n".to_owned());
            }
            14 => self.put("source /dev/stdin <<< 'c1 t1; c2'"),
            _ => self.simple(depth),
        }
    }

    fn enclosed(&mut self, open: &str, depth: usize, close: &str) {
        self.put(open);
        self.body(depth);
        self.put(close);
    }

    fn body(&mut self, depth: usize) {
        self.list(depth - 1);
        // A list in the background is ended already.
        self.newline();
    }

    fn simple(&mut self, depth: usize) {
        if self.dice.roll(8) == 0 {
            self.put("v=");
            self.word(depth);
            self.put(" ");
        }
        let number = self.dice.roll(10);
        let name = match self.dice.roll(10) {
            0 => format!("\"c{number}\""),
            1 => format!("c''{number}"),
            2 => format!("\\c{number}"),
            3 => format!("$'c{number}'"),
            4 => format!("command c{number}"),
            5 => format!("{{c{number},t1}}"),
            _ => format!("c{number}"),
        };
        self.put(&name);
        self.words(depth);
        match self.dice.roll(12) {
            0 => self.put(" >t_out"),
            1 => self.put(" 2>&1"),
            2 => self.put(" <<< \"t1 c0; c1\""),
            3 if !self.one_line => self.heredoc(depth),
            4 => self.put(" &>t_out"),
            5 => self.put(" 3<>t_out 3>&-"),
            _ => {}
        }
    }

    fn words(&mut self, depth: usize) {
        for _ in 0..=self.dice.roll(3) {
            self.blank();
            self.word(depth);
        }
    }

    fn word(&mut self, depth: usize) {
        match self.dice.roll(24) {
            0 => self.put("'t1; c1 `c2` $(c3)'"),
            1 => self.put("\"t2 && c1 \\$(c2) \\\" '\""),
            2 => self.put("t\\ 3\\;c1"),
            3 => self.put("$'t4\\n\\x27c1\\''"),
            4 => self.put("t#5"),
            5 => self.put("{t6,\"t 7\"}"),
            6 => self.put("$((1 + (2 * 3)))"),
            7 => self.put("${u:-t8}"),
            8 => self.put("\"${u:-t 'c1' 9}\""),
            9 | 10 if depth > 0 => self.substitution(depth),
            11 if depth > 0 => {
                self.put("\"t ");
                self.substitution(depth);
                self.put(" t\"");
            }
            12 if depth > 0 => {
                self.put("${u:-");
                self.substitution(depth);
                self.put("}");
            }
            13 if depth > 0 => {
                self.put("<(");
                self.inside(depth);
                self.put(")");
            }
            14 => self.put("`c1 t1`"),
            15 => self.put("\"`c2 't 1'`\""),
            16 => self.put("t=1"),
            17 => self.put("-t"),
            18 => self.put("t[1]"),
            19 => self.put("\"${#u} ${u%%t*} ${u//t/\\/}\""),
            _ => {
                let word = format!("t{}", self.dice.roll(90));
                self.put(&word);
            }
        }
    }

    fn substitution(&mut self, depth: usize) {
        self.put("$(");
        self.inside(depth);
        self.put(")");
    }

    /// A list on one line.
    fn inside(&mut self, depth: usize) {
        let before = std::mem::replace(&mut self.one_line, true);
        self.put(" ");
        self.list(depth - 1);
        self.put(" ");
        self.one_line = before;
    }

    fn heredoc(&mut self, depth: usize) {
        let (mark, body, end) = match self.dice.roll(4) {
            0 => (" <<T_EOF", "t1 c1; c2 'unclosed\n$(c3 t1) \\$(c4) `c5`\n", "T_EOF\n"),
            1 => (" <<'T_EOF'", "t1 $(c1) `c2` \"\n\\\nT_EOF x\n", "T_EOF\n"),
            2 => (" <<-T_EOF", "\tt1 ${u:-$(c6)}\n", "\tT_EOF\n"),
            _ => (" <<\\T_EOF 2>&1", "t2\nc1\n", "T_EOF\n"),
        };
        self.put(mark);
        if self.dice.roll(3) == 0 && depth > 0 {
            self.put(" | ");
            self.simple(0);
        }
        self.bodies.push(format!("{body}{end}"));
    }
}
