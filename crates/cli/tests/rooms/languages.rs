//! Large programs, with much that they expect to be there.

use crate::place::Place;

#[test]
fn jupyter_runs_a_notebook() {
    let place = Place::ordinary();
    place.write(
        "sums.ipynb",
        r#"{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [],
            "source": ["print('sum', 6 * 7)"]}], "metadata": {"kernelspec": {"display_name": "Python 3",
            "language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}"#,
    );
    let out = place.prints("jupyter nbconvert --to notebook --execute --stdout sums.ipynb");
    assert!(out.contains("\"sum 42\\n\""), "{out}");
}

#[test]
fn java_makes_temporary_files() {
    let place = Place::ordinary();
    place.write(
        "Temporary.java",
        "public class Temporary { public static void main(String[] a) throws Exception {
            var file = java.io.File.createTempFile(\"kept\", \".txt\");
            java.nio.file.Files.writeString(file.toPath(), \"written\"); System.out.println(file); } }",
    );
    let path = place.prints("java Temporary.java");
    assert!(path.starts_with("/tmp/kept"), "{path}");
    assert_eq!(place.prints(&format!("cat {path}")), "written");
}

#[test]
fn java_serves_and_java_asks() {
    let place = Place::ordinary();
    place.write(
        "Server.java",
        "import com.sun.net.httpserver.HttpServer; import java.net.InetSocketAddress;
        public class Server { public static void main(String[] a) throws Exception {
            var server = HttpServer.create(new InetSocketAddress(\"localhost\", 8000), 0);
            server.createContext(\"/\", asked -> {
                asked.sendResponseHeaders(200, 4);
                asked.getResponseBody().write(\"pong\".getBytes());
                asked.close();
            });
            server.start(); } }",
    );
    place.write(
        "Client.java",
        "import java.net.http.*; public class Client { public static void main(String[] a) throws Exception {
            var ask = HttpRequest.newBuilder(java.net.URI.create(\"http://localhost:8000/\")).build();
            System.out.println(HttpClient.newHttpClient().send(ask, HttpResponse.BodyHandlers.ofString()).body()); } }",
    );
    place.start("exec java Server.java");
    place.prints_soon("curl -sS localhost:8000");
    assert_eq!(place.prints("java Client.java"), "pong\n");
}

#[test]
fn chromium_shows_a_page_that_another_command_serves() {
    for place in Place::both() {
        place.write("page.html", "<p id=p></p><script>p.textContent = 6 * 7 + ' is it'</script>");
        place.serve(8000);
        let out = place.prints(
            "chromium --headless --no-sandbox --disable-gpu --dump-dom http://127.0.0.1:8000/page.html",
        );
        assert!(out.contains("<p id=\"p\">42 is it</p>"), "{out}");
        assert_eq!(place.found_in_home(), Vec::<std::path::PathBuf>::new());
    }
}
