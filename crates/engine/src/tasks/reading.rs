//! Reading a task's output by offsets, while it grows and afterwards.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use super::folder::{Folder, Record, plain};
use super::log::{Layout, Outputs};

/// A part of what a task printed.
///
/// Offsets count the bytes that the task has printed. The caller holds on to `next`, and gets what came since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// How many bytes from the offset asked for are gone: only the beginning and the end of long output are kept.
    pub dropped: u64,
    /// The offset of the first byte.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The offset to ask for next.
    pub next: u64,
}

/// A stretch of the output and where it is.
struct Stretch {
    start: u64,
    length: u64,
    /// None where somebody has removed it.
    file: Option<Rc<File>>,
    at: u64,
}

/// At most so many bytes from this offset on.
pub(super) fn read(
    folder: &Folder,
    record: &Record,
    layout: Option<Layout>,
    since: u64,
    most: usize,
) -> io::Result<Chunk> {
    while_pieces_go(&Outputs::default(), |outputs| {
        read_from(&stretches(folder, record, layout, outputs)?, layout, since, most)
    })
}

/// Returns how far the output goes, and the end of it: at most so many bytes, without a gap.
pub(super) fn end(
    folder: &Folder,
    record: &Record,
    layout: Option<Layout>,
    most: u64,
    outputs: &Outputs,
) -> io::Result<(u64, Vec<u8>)> {
    while_pieces_go(outputs, |outputs| {
        let stretches = stretches(folder, record, layout, outputs)?;
        let length = end_of(&stretches, layout);
        let (mut since, mut bytes) = (length.saturating_sub(most), vec![]);
        while since < length {
            let most = usize::try_from(length - since).unwrap_or(usize::MAX);
            let Ok(chunk) = read_from(&stretches, layout, since, most) else { break };
            if chunk.bytes.is_empty() {
                break;
            }
            if chunk.dropped > 0 {
                bytes.clear();
            }
            bytes.extend(chunk.bytes);
            since = chunk.next;
        }
        Ok((length, bytes))
    })
}

/// Tries with a fresh list of the pieces if one has gone since they were listed.
fn while_pieces_go<T>(outputs: &Outputs, attempt: impl Fn(&Outputs) -> io::Result<T>) -> io::Result<T> {
    const TRIES: usize = 20;
    let mut result = attempt(outputs);
    for _ in 1..TRIES {
        match result {
            Err(ref error) if error.kind() == io::ErrorKind::NotFound => {
                result = attempt(&Outputs::default());
            }
            _ => break,
        }
    }
    result
}

fn read_from(stretches: &[Stretch], layout: Option<Layout>, since: u64, most: usize) -> io::Result<Chunk> {
    let end = end_of(stretches, layout);
    let Some(stretch) = stretches.iter().find(|stretch| stretch.start + stretch.length > since) else {
        // Nothing newer; or what was newer could not be kept.
        let offset = since.min(end);
        let dropped = layout.map_or(0, |layout| layout.total.saturating_sub(since.max(end)));
        return Ok(Chunk { dropped, offset, bytes: vec![], next: since.max(end).max(offset) + dropped });
    };
    let offset = since.max(stretch.start);
    let left = usize::try_from(stretch.start + stretch.length - offset).unwrap_or(usize::MAX);
    let mut bytes = vec![0; left.min(most)];
    let file = stretch.file.as_deref().ok_or(io::ErrorKind::NotFound)?;
    let count = read_at(file, &mut bytes, stretch.at + (offset - stretch.start))?;
    bytes.truncate(count);
    Ok(Chunk { dropped: offset - since, offset, next: offset + count as u64, bytes })
}

fn end_of(stretches: &[Stretch], layout: Option<Layout>) -> u64 {
    let kept = stretches.last().map_or(0, |stretch| stretch.start + stretch.length);
    layout.filter(|layout| layout.tail > 0).map_or(kept, |layout| layout.total)
}

fn stretches(
    folder: &Folder,
    record: &Record,
    layout: Option<Layout>,
    outputs: &Outputs,
) -> io::Result<Vec<Stretch>> {
    let file = match plain(&folder.output()) {
        Ok(file) => Some(Rc::new(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(Layout { total, head, marker, tail }) = layout.filter(|layout| layout.tail > 0) {
        let first = Stretch { start: 0, length: head, file: file.clone(), at: 0 };
        let second = Stretch { start: total - tail, length: tail, file, at: head + marker };
        return Ok(vec![first, second]);
    }
    // After the end a line of ours follows; while it runs nothing does.
    let most = layout.map_or(record.head, |layout| layout.head);
    let written = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|metadata| metadata.len()))?;
    let mut stretches = vec![Stretch { start: 0, length: written.min(most), file, at: 0 }];
    // The first piece is begun when the beginning is full. Where none is kept there is no output.
    let has_pieces = layout.map_or(most > 0 && written >= most, |layout| layout.total > layout.head);
    if has_pieces {
        for (start, path) in outputs.pieces(&folder.output())? {
            let file = plain(&path)?;
            let length = file.metadata()?.len();
            stretches.push(Stretch { start, length, file: Some(Rc::new(file)), at: 0 });
        }
    }
    Ok(stretches)
}

fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::super::TaskId;
    use super::super::log::{Log, Sizes};
    use super::*;

    fn everything(folder: &Folder, record: &Record, layout: Option<Layout>) -> (Vec<(u64, u64)>, Vec<u8>) {
        let (mut since, mut gaps, mut all) = (0, vec![], vec![]);
        loop {
            let chunk = read(folder, record, layout, since, 7).unwrap();
            if chunk.dropped > 0 {
                gaps.push((since, chunk.dropped));
            }
            all.extend_from_slice(&chunk.bytes);
            if chunk.bytes.is_empty() {
                assert_eq!(chunk.next, since + chunk.dropped);
                return (gaps, all);
            }
            since = chunk.next;
        }
    }

    fn record(id: TaskId) -> Record {
        Record {
            version: 1,
            id,
            command: String::new(),
            display: String::new(),
            description: None,
            cwd: String::new(),
            origin: None,
            started: 0,
            boot: String::new(),
            pid: 0,
            supervisor: 0,
            agent: None,
            timeout_ms: None,
            room: None,
            room_pid: None,
            head: 100,
        }
    }

    /// As on a disk that was full for a while.
    #[test]
    fn what_could_not_be_written_moves_no_offsets() {
        let data: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let (temp, outputs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (id, folder) = Folder::create(temp.path(), outputs.path()).unwrap();
        let record = record(id);
        let in_the_way = folder.output().with_file_name(format!("{}@250", record.id));
        std::fs::create_dir(&in_the_way).unwrap();
        let mut log = Log::create(folder.output(), Sizes { head: 100, piece: 50 }).unwrap();
        data.chunks(33).for_each(|chunk| log.write(chunk));
        std::fs::remove_dir(&in_the_way).unwrap();
        let (_, running) = everything(&folder, &record, None);
        let (layout, problem) = log.finish();
        assert!(problem.is_some());
        log.close(layout, "\n[ended]\n");
        let (gaps, after) = everything(&folder, &record, Some(layout));
        assert_eq!(after, running);
        assert_eq!(after, [&data[..100], &data[150..250]].concat());
        assert_eq!(gaps, [(100, 50), (250, 750)]);
    }

    #[test]
    fn offsets_mean_the_same_before_and_after_the_end() {
        let data: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for total in [0, 1, 99, 100, 101, 150, 199, 200, 201, 250, 777, 1000] {
            let temp = tempfile::tempdir().unwrap();
            let outputs = tempfile::tempdir().unwrap();
            let (id, folder) = Folder::create(temp.path(), outputs.path()).unwrap();
            let record = record(id);
            let mut log = Log::create(folder.output(), Sizes { head: 100, piece: 50 }).unwrap();
            for chunk in data[..total].chunks(33) {
                log.write(chunk);
            }
            let (gaps, running) = everything(&folder, &record, None);
            let (layout, problem) = log.finish();
            assert!(problem.is_none());
            let (_, lost) = everything(&folder, &record, None);
            let (_, between) = everything(&folder, &record, Some(layout));
            log.close(layout, "\n[ended]\n");
            let (gaps_after, after) = everything(&folder, &record, Some(layout));
            assert_eq!((&gaps, &running), (&gaps_after, &after), "{total}");
            assert_eq!((&between, &lost), (&after, &after));
            let dropped: u64 = gaps.iter().map(|(_, count)| count).sum();
            assert_eq!(dropped + after.len() as u64, total as u64, "kept and dropped is all");
            let dropped = usize::try_from(dropped).unwrap();
            let expected = [&data[..total.min(100)], &data[(total.min(100) + dropped)..total]].concat();
            assert_eq!(after, expected, "{total}");
            assert!(total < 200 || after.len() >= 150, "{total}: {}", after.len());
            let most = 1 + total as u64 % 130;
            let (length, end) = end(&folder, &record, Some(layout), most, &Outputs::default()).unwrap();
            assert_eq!(length, total as u64);
            let wanted = usize::try_from(most).unwrap().min(total);
            assert!(data[..total].ends_with(&end) && after.ends_with(&end), "{total}");
            assert!(
                end.len() == wanted || total > 100 && end.len() >= wanted.min(50),
                "{total}: {}",
                end.len()
            );
            let file = std::fs::read(folder.output()).unwrap();
            assert!(file.ends_with(b"\n[ended]\n"));
        }
    }
}
