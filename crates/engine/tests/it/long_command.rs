//! Commands longer than the kernel takes as one argument.

use bashtion::Request;

use crate::World;

fn files_in(world: &World) -> usize {
    std::fs::read_dir(world.path().join("state/commands")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn every_length_around_the_limit_works() {
    let world = World::new();
    for length in [131_000, 131_070, 131_071, 131_072, 131_073, 1 << 20] {
        let tail = "; echo $0 ${#x} $#; exit 6";
        let command = format!("x={}{tail}", "a".repeat(length - tail.len() - 2));
        assert_eq!(command.len(), length);
        let outcome = world.run(Request::new(command.clone())).await;
        let expected = format!("bash {} 0\n", length - tail.len() - 2);
        assert_eq!(outcome.output.stdout(), expected, "{length}: {}", outcome.output.stderr());
        assert_eq!(outcome.exit, Some(bashtion::Exit::Code(6)));
        assert_eq!(outcome.command, command);
    }
    assert_eq!(files_in(&world), 0, "nothing stays behind");
}

#[tokio::test]
async fn it_means_the_same_as_a_short_one() {
    let world = World::new();
    let body = "f() { echo \"f:$1\"; }\nf 'it'\\''s'\ncat <<'EOF'\n$HOME `x`\nEOF\necho \"$(printf %s a b)\" # end\n";
    let short = world.run(body).await;
    let long = world.run(Request::new(format!("{body}# {}", "x".repeat(200_000)))).await;
    assert_eq!(long.output, short.output);
}
