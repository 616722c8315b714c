//! Real work goes on in a workspace.

use std::fs;

use bashtion::{Outcome, ToolContext};

use crate::scene::settings;
use crate::{Hold, Scene};

/// In the workspace, with the caller's own home: compilers live there.
fn work(hold: Hold, command: &str) -> (Scene, Outcome) {
    let scene = Scene::new();
    let context = ToolContext::from_host(scene.path("work"));
    let outcome = scene.run_as(&context, settings(hold), command);
    (scene, outcome)
}

fn works(command: &str, expected: &str) {
    let (_, outcome) = work(Hold::Workspace, command);
    let (out, err) = (outcome.output.stdout(), outcome.output.stderr());
    assert!(
        outcome.success() && out.contains(expected),
        "{} {out} {err} {:?}",
        outcome.status,
        outcome.denials
    );
}

#[test]
fn cargo_builds_tests_and_runs() {
    works(
        "cargo init -q --name demo --vcs none . && printf '#[test] fn adds() { assert_eq!(1 + 1, 2); }' >> src/main.rs && \
         cargo test -q --offline 2>&1 && cargo run -q --offline",
        "Hello, world!",
    );
}

#[test]
fn node_and_npm() {
    works(
        "npm init -y > /dev/null && mkdir lib && (cd lib && npm init -y > /dev/null && echo 'module.exports = 42' > index.js) && \
         npm install --offline --no-audit --no-fund ./lib > /dev/null && npm pkg set scripts.test='node -p \"require(\\\"lib\\\")\"' && npm test --silent",
        "42",
    );
}

#[test]
fn node_workers_children_and_servers() {
    works(
        "cat > t.js <<'END'
const { Worker } = require('worker_threads'), { fork, execSync } = require('child_process'), http = require('http');
if (process.argv[2] === 'child') { process.send('from a child'); return; }
new Worker('require(\"worker_threads\").parentPort.postMessage(1)', { eval: true }).on('message', () =>
  fork(__filename, ['child']).on('message', m => {
    const server = http.createServer((q, r) => r.end(m)).listen(0, '127.0.0.1', () =>
      http.get({ port: server.address().port, host: '127.0.0.1' }, r => r.on('data', d => {
        console.log(String(d), String(execSync('echo shell'))); server.close(); })));
  }));
END
node t.js",
        "from a child shell",
    );
}

#[test]
fn a_python_environment_with_pip() {
    works(
        "python3 -m venv env && mkdir demo-1.dist-info && echo 'answer = 42' > demo.py && env/bin/pip --version && \
         printf 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1\\n' > demo-1.dist-info/METADATA && \
         printf 'Wheel-Version: 1.0\\nGenerator: me\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n' > demo-1.dist-info/WHEEL && \
         printf 'demo.py,,\\ndemo-1.dist-info/METADATA,,\\ndemo-1.dist-info/WHEEL,,\\ndemo-1.dist-info/RECORD,,\\n' > demo-1.dist-info/RECORD && \
         python3 -m zipfile -c demo-1-py3-none-any.whl demo.py demo-1.dist-info && \
         env/bin/pip install -q --no-index ./demo-1-py3-none-any.whl && cd / && $OLDPWD/env/bin/python -c 'import demo; print(demo.answer)'",
        "42",
    );
}

#[test]
fn python_processes_threads_and_shared_memory() {
    works(
        "cat > t.py <<'END'
import multiprocessing as mp, threading, asyncio, sqlite3, tempfile, subprocess
from multiprocessing import shared_memory
def square(n): return n * n
if __name__ == '__main__':
    with mp.Pool(2) as pool: assert pool.map(square, range(4)) == [0, 1, 4, 9]
    queue, lock = mp.Queue(), mp.Lock()
    def put():
        with lock: queue.put('queued')
    p = mp.Process(target=put); p.start(); assert queue.get() == 'queued'; p.join()
    s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 1; s.close(); s.unlink()
    t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()
    async def main():
        child = await asyncio.create_subprocess_exec('echo', 'async', stdout=subprocess.PIPE)
        return (await child.communicate())[0]
    assert asyncio.run(main()) == b'async\\n'
    c = sqlite3.connect('db'); c.execute('pragma journal_mode=wal'); c.execute('create table t(x)'); c.execute('insert into t values (1)'); c.commit()
    with tempfile.TemporaryDirectory() as d: open(d + '/x', 'w').write('x')
    print('all done')
END
python3 t.py",
        "all done",
    );
}

#[test]
fn pytest_passes() {
    works(
        "printf 'def test_one(tmp_path):\\n    (tmp_path / \"x\").write_text(\"x\")\\n' > test_one.py && /usr/bin/python3 -m pytest -q 2>&1",
        "1 passed",
    );
}

#[test]
fn make_in_parallel_with_a_compiler() {
    works(
        "printf '#include <stdio.h>\\nint f(void);int main(void){printf(\"%%d\\\\n\", f());}' > a.c && echo 'int f(void){return 42;}' > b.c && \
         printf 'all: a.o b.o\\n\\tcc -o prog a.o b.o && ./prog && ar rc lib.a b.o\\n' > Makefile && make -j4",
        "42",
    );
}

#[test]
fn sqlite_on_the_command_line() {
    works("sqlite3 x.db 'create table t(a); insert into t values (42); select a from t'", "42");
}

#[test]
fn everything_bash_does() {
    works("cat <<'END'\nsmall\nEND", "small");
    works("cat <<END | wc -c\n$(head -c 300000 /dev/zero | tr '\\0' x)\nEND", "300001");
    works("diff <(echo a) <(echo a) && echo same", "same");
    works("echo to > >(cat) ; wait; echo x > /dev/stdout; echo y > /dev/null; echo z | tee /dev/stderr", "z");
    works("f=$(mktemp) && d=$(mktemp -d) && echo x > $f && mv $f $d/ && ls $d | wc -l", "1");
    works("(sleep 0.1; echo background) & wait", "background");
    works("seq 300000 | sort -R -S 1M | wc -l", "300000");
    works("printf 'a\\nb\\n' | less", "a\nb");
    works("mkfifo p && (echo piped > p &) && cat p && flock lock echo locked", "locked");
    works("coproc cat; echo co >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x; kill $COPROC_PID", "co");
}

#[test]
fn files_of_every_kind_inside() {
    works(
        "mkdir -p a/b && echo x > a/b/c && chmod 700 a/b/c && touch -d 2001-01-01 a/b/c && ln a/b/c hard && ln -s a soft && cp -a a copy && mv copy moved && \
         tar czf t.tgz a && mkdir out && tar xzf t.tgz -C out && sed -i s/x/y/ out/a/b/c && cat out/a/b/c && find . -name c -delete && rm -rf a out",
        "y",
    );
}

#[test]
fn reading_in_read_only_mode() {
    let scene = Scene::new();
    fs::write(scene.path("work/file"), "needle\n").unwrap();
    let context = ToolContext::from_host(scene.path("work"));
    let command = "grep -r needle . && find . -name file && cat <<END && sort file | wc -l && python3 -c 'print(1)' && git --version && ls -la && diff <(cat file) file
here
END";
    let outcome = scene.run_as(&context, settings(Hold::ReadOnly), command);
    assert!(outcome.success(), "{} {}", outcome.output.stdout(), outcome.output.stderr());
    let large = "cat <<END | wc -c\n$(head -c 300000 /dev/zero | tr '\\0' x)\nEND";
    assert_eq!(scene.run_as(&context, settings(Hold::ReadOnly), large).output.stdout(), "300001\n");
}

#[test]
fn the_same_without_namespaces() {
    for command in [
        "cargo init -q --name demo --vcs none . && cargo run -q --offline",
        "npm init -y > /dev/null && node -e 'require(\"fs\").writeFileSync(\"x\", \"1\")' && cat x",
        "python3 -c 'import multiprocessing as m; q = m.Queue(); q.put(1); print(q.get())'",
        "echo 'int main(void){return 0;}' > a.c && make a && ./a",
        "cat <<END\nhere\nEND",
        "f=$(mktemp) && rm $f",
    ] {
        let (_, outcome) = work(Hold::Plain, command);
        assert!(outcome.success(), "{command}: {} {}", outcome.output.stdout(), outcome.output.stderr());
    }
}

/// The host opens and makes files in a command's place: they must be what the command would have made.
#[test]
fn files_are_made_as_the_command_would() {
    let script = "import ctypes, os, fcntl, mmap, stat
mode = lambda path: oct(stat.S_IMODE(os.stat(path).st_mode))
for mask in (0o022, 0o002, 0o077, 0):
    os.umask(mask)
    os.close(os.open(f'file{mask}', os.O_CREAT | os.O_RDWR, 0o666)); os.mkdir(f'folder{mask}'); os.mkfifo(f'pipe{mask}')
    print(mode(f'file{mask}'), mode(f'folder{mask}'), mode(f'pipe{mask}'))
os.umask(0o022)
nameless = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600); os.write(nameless, b'x')
ctypes.CDLL(None).linkat(-100, f'/proc/self/fd/{nameless}'.encode(), -100, b'named', 0x400)
with open('log', 'a') as one, open('log', 'a') as two: one.write('1'); one.flush(); two.write('2')
with open('log', 'r+b') as file: fcntl.flock(file, fcntl.LOCK_EX); memory = mmap.mmap(file.fileno(), 2); memory[0:1] = b'0'; memory.flush()
os.truncate('log', 1); os.rename('log', 'moved'); print(open('moved').read(), os.path.exists('named'))
";
    let expected = "0o644 0o755 0o644\n0o664 0o775 0o664\n0o600 0o700 0o600\n0o666 0o777 0o666\n0 True\n";
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        fs::write(scene.path("work/script.py"), script).unwrap();
        let outcome = scene.run(hold, "python3 script.py");
        let (out, err) = (outcome.output.stdout(), outcome.output.stderr());
        assert_eq!(out, expected, "{hold:?} {err}");
    }
}
