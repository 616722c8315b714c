//! A thousand commands from one engine.

use bashtion::Request;
use bashtion_testkit::{descriptors, wait_until, zombie_children};

use crate::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_loses_output_and_nothing_stays_behind() {
    const COUNT: usize = 1000;
    let world = World::new();
    raise_descriptor_limit();
    rustix::fs::mkfifoat(rustix::fs::CWD, world.path().join("go"), rustix::fs::Mode::RWXU).unwrap();
    let before = descriptors();
    let tasks: Vec<_> = (0..COUNT)
        .map(|number| {
            let (engine, context) = (world.engine.clone(), world.context());
            tokio::spawn(async move {
                // All of them are alive at once: opening the named pipe waits for a writer.
                let command = format!(
                    "touch up.{number}; : < go; seq {number} {}; echo e{number} >&2; exit {}",
                    number + 99,
                    number % 100
                );
                (number, engine.run(Request::new(command).no_timeout(), &context).await.unwrap())
            })
        })
        .collect();
    let up = || {
        std::fs::read_dir(world.path())
            .unwrap()
            .flatten()
            .filter(|e| e.file_name().as_encoded_bytes().starts_with(b"up."))
            .count()
    };
    while up() < COUNT {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    std::fs::File::options().write(true).open(world.path().join("go")).unwrap();
    for task in tasks {
        let (number, outcome) = task.await.unwrap();
        let expected: String =
            (number..number + 100).flat_map(|n| [n.to_string(), "\n".to_owned()]).collect();
        assert_eq!(outcome.output.stdout(), expected);
        assert_eq!(outcome.output.stderr(), format!("e{number}\n"));
        assert_eq!(outcome.status, bashtion::Status::Exited(i32::try_from(number % 100).unwrap()));
        assert_eq!(outcome.leftovers, []);
    }
    assert_eq!(zombie_children(), Vec::<i32>::new());
    // An engine keeps a few control groups for its next commands.
    drop(world);
    // The thread that answers for unix sockets keeps one, for the whole process.
    wait_until("every other descriptor is closed", || descriptors() <= before + 1);
}

/// Five for each command; the usual limit is 1024.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    assert!(limit.maximum.is_none_or(|most| most >= 6000), "this host allows too few descriptors: {limit:?}");
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}
