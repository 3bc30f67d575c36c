//! What was measured, and how it compares.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The figures of a repository of some size.
pub struct Table {
    files: usize,
    steps: Vec<(String, Vec<Duration>)>,
    memory: Vec<(String, u64)>,
    room: Option<(u64, f64)>,
}

/// What must hold: at most (or at least) so many times what another step takes, from so many files on.
struct Budget {
    step: &'static str,
    times: f64,
    of: &'static str,
    from_files: usize,
}

const STATUS: &str = "git status -uall";
const REV_PARSE: &str = "git rev-parse HEAD";

const BUDGETS: [Budget; 11] = [
    Budget {
        step: "edio, path known",
        times: 0.3,
        of: "git status -uall, beside hooks",
        from_files: 100_000,
    },
    Budget {
        step: "edio, nothing changed",
        times: 0.8,
        of: STATUS,
        from_files: 20_000,
    },
    Budget {
        step: "edio, 1 file changed",
        times: 1.3,
        of: STATUS,
        from_files: 20_000,
    },
    Budget {
        step: "edio, 1 file changed",
        times: 0.1,
        of: "reference, 1 file changed",
        from_files: 20_000,
    },
    Budget {
        step: "edio, 1 file changed",
        times: 0.7,
        of: "kept index, 1 file changed",
        from_files: 20_000,
    },
    Budget {
        step: "edio, restore of 1 file",
        times: 8.0,
        of: REV_PARSE,
        from_files: 300,
    },
    Budget {
        step: "edio, restore of 1 file",
        times: 1.5,
        of: STATUS,
        from_files: 20_000,
    },
    Budget {
        step: "edio, restore of 100 files",
        times: 2.0,
        of: STATUS,
        from_files: 20_000,
    },
    Budget {
        step: "edio, restore of one file by name",
        times: 1.5,
        of: STATUS,
        from_files: 20_000,
    },
    Budget {
        step: "edio log, 200 turns",
        times: 4.0,
        of: "git rev-parse HEAD, 200 turns",
        from_files: 300,
    },
    Budget {
        step: "edio --version",
        times: 2.0,
        of: "true",
        from_files: 300,
    },
];

impl Table {
    pub fn new(files: usize) -> Self {
        Self {
            files,
            steps: Vec::new(),
            memory: Vec::new(),
            room: None,
        }
    }

    /// Measures a step once more.
    pub fn time<T>(&mut self, step: &str, work: impl FnOnce() -> T) {
        let start = Instant::now();
        work();
        let took = start.elapsed();
        match self.steps.iter_mut().find(|(name, _)| name == step) {
            Some((_, times)) => times.push(took),
            None => self.steps.push((step.to_owned(), vec![took])),
        }
    }

    pub fn memory(&mut self, step: &str, bytes: u64) {
        self.memory.push((step.to_owned(), bytes));
    }

    /// Bytes and files on disk for a turn that changes one small file.
    pub fn room(&mut self, bytes: u64, files: f64) {
        self.room = Some((bytes, files));
    }

    fn median(&self, step: &str) -> Option<f64> {
        let (_, times) = self.steps.iter().find(|(name, _)| name == step)?;
        let mut times = times.clone();
        times.sort_unstable();
        Some(times[times.len() / 2].as_secs_f64() * 1000.0)
    }

    fn ratio(&self, step: &str, of: &str) -> Option<f64> {
        Some(self.median(step)? / self.median(of)?)
    }

    /// The budgets that count at this size: what they say, the ratio, and whether it holds.
    fn budgets(&self) -> Vec<(String, f64, bool)> {
        let counted = BUDGETS
            .iter()
            .filter(|budget| self.files >= budget.from_files);
        // What is spent on starting processes only counts where there is little else.
        let counted = counted.filter(|budget| budget.of != REV_PARSE || self.files <= 300);
        let judged = counted.filter_map(|budget| {
            let ratio = self.ratio(budget.step, budget.of)?;
            let text = format!("{} <= {} x {}", budget.step, budget.times, budget.of);
            Some((text, ratio, ratio <= budget.times))
        });
        judged.collect()
    }

    pub fn json(&self) -> Value {
        let steps = self.steps.iter().map(|(name, times)| {
            json!({
                "step": name,
                "times": times.len(),
                "median_ms": self.median(name),
                "of_status": self.ratio(name, STATUS),
                "of_rev_parse": self.ratio(name, REV_PARSE),
            })
        });
        let budgets = self.budgets().into_iter();
        let budgets = budgets.map(
            |(budget, ratio, holds)| json!({"budget": budget, "ratio": ratio, "holds": holds}),
        );
        json!({
            "files": self.files,
            "steps": steps.collect::<Vec<_>>(),
            "budgets": budgets.collect::<Vec<_>>(),
            "peak_memory": self.memory.iter().map(|(step, bytes)| json!({"step": step, "bytes": bytes})).collect::<Vec<_>>(),
            "turn_on_disk": self.room.map(|(bytes, files)| json!({"bytes": bytes, "files": files})),
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n## {} files\n", self.files)?;
        writeln!(
            f,
            "| step | median ms | x git status -uall | x git rev-parse HEAD |"
        )?;
        writeln!(f, "| --- | ---: | ---: | ---: |")?;
        for (name, _) in &self.steps {
            let median = self.median(name).unwrap_or_default();
            let status = self.ratio(name, STATUS).unwrap_or_default();
            let rev_parse = self.ratio(name, REV_PARSE).unwrap_or_default();
            writeln!(f, "| {name} | {median:.1} | {status:.2} | {rev_parse:.1} |")?;
        }
        writeln!(f)?;
        for (budget, ratio, holds) in self.budgets() {
            let holds = if holds { "holds" } else { "MISSED" };
            writeln!(f, "- {holds}: {budget}: {ratio:.2}")?;
        }
        for (step, bytes) in &self.memory {
            writeln!(f, "- peak memory, {step}: {:.1} MB", *bytes as f64 / 1e6)?;
        }
        if let Some((bytes, files)) = self.room {
            let kilobytes = bytes as f64 / 1024.0;
            writeln!(
                f,
                "- a turn that changes one file, on disk: {kilobytes:.1} KB in {files:.1} files"
            )?;
        }
        Ok(())
    }
}
