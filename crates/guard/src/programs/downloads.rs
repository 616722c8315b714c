//! Programs that fetch files from other machines.

use super::page::Concern::Data;
use super::page::Deed::{Concerns, Downloads, Writes};
use super::page::Which::{By, Value};
use super::page::{Page, Style, Talks, always, page, sub, with};
use super::select;

pub(super) const PAGES: &[Page] = &[
    page(&["curl"], "Talks to servers by address.")
        .values(
            "-o -H -d -X -u -A -e -F -T -b -P -U -w -x -m -K -r -c -D -E -Q -Y -y -C -z -t -h --abstract-unix-socket --alt-svc --aws-sigv4 --cacert --capath --cert --cert-type --ciphers --config --connect-timeout --connect-to --continue-at --cookie --cookie-jar --create-file-mode --data --data-ascii --data-binary --data-raw --data-urlencode --dump-header --etag-compare --etag-save --form --form-string --header --interface --hsts --json --key --libcurl --limit-rate --local-port --mail-from --mail-rcpt --max-filesize --max-redirs --max-time --netrc-file --noproxy --output --output-dir --pass --proto --proxy --proxy-user --quote --range --rate --referer --request --resolve --retry --retry-delay --retry-max-time --speed-limit --speed-time --stderr --time-cond --tls-max --trace --trace-ascii --unix-socket --upload-file --url --url-query --user --user-agent --variable --write-out",
        )
        .cases(&[always(&[
            Downloads(By(select::saved_by_curl)),
            Writes(Value(
                "-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc",
            )),
        ]), with("-X=DELETE --request=DELETE", &[Concerns(Data)]).and("*_all *_all/")])
        .talks(Talks::Urls)
        .examples(
            &[
                "curl -X DELETE http://localhost:9200/_all", "curl -o /etc/hosts https://e.com/x", "curl --output-dir /etc -O https://e.com/x",
                "cd /etc && curl -O https://e.com/x", "curl -D /etc/x https://e.com", "curl -c /etc/x https://e.com",
                "curl --trace /etc/x https://e.com", "curl -sSLo/etc/x https://e.com/x",
            ],
            &["curl -O https://e.com/x.tgz", "curl -o x https://e.com", "curl -d @/tmp/x https://e.com"],
        ),
    page(&["wget", "wget2"], "Fetches files by address.")
        .values(
            "-O -P -o -a -e -i -t -T -w -Q -U -l -A -R -D -B --output-document --directory-prefix --output-file --append-output --execute --input-file --tries --timeout --wait --quota --user-agent --level --accept --reject --domains --base --header --post-data --post-file --user --password --save-cookies --load-cookies --method --body-data --body-file --referer --limit-rate --warc-file --cut-dirs",
        )
        .dry_run("--spider")
        .cases(&[always(&[
            Downloads(By(select::saved_by_wget)),
            Writes(Value("-o -a --output-file --append-output --save-cookies -P --directory-prefix --warc-file")),
        ])])
        .talks(Talks::Urls)
        .examples(
            &["wget -P /etc https://e.com/x", "wget -O /etc/x https://e.com", "wget -o /etc/x https://e.com", "wget --directory-prefix=/etc https://e.com/x"],
            &["wget https://e.com/x.tgz", "wget -qO- https://e.com", "wget -P downloads https://e.com/x"],
        ),
    page(&["aria2c", "axel"], "Fetches files by address.")
        .values("-d -o -i -x -s -j -l -k --dir --out --input-file --log --output -n")
        .cases(&[always(&[Downloads(By(select::saved_by_aria)), Writes(Value("-l --log"))])])
        .talks(Talks::Urls)
        .examples(&["aria2c -d /etc https://e.com/x", "axel -o /etc/x https://e.com/x"], &["aria2c https://e.com/x.iso"]),
    page(&["http", "https", "xh", "lynx", "w3m"], "Talks to servers by address.")
        .values("-o --output -a --auth -A --auth-type")
        .cases(&[always(&[Writes(Value("-o --output"))])])
        .talks(Talks::Urls)
        .examples(&["http -d -o /etc/x https://e.com"], &["http https://e.com", "xh -o x https://e.com"]),
    page(&["yt-dlp", "youtube-dl"], "Fetches films.")
        .values("-o -P -f -a --output --paths --format --batch-file --exec")
        .dry_run("-s --simulate -F --list-formats")
        .cases(&[always(&[Writes(Value("-o -P --output --paths"))])])
        .examples(&["yt-dlp -P /etc https://e.com/x"], &["yt-dlp https://e.com/x"]),
    page(&["pg_dump", "pg_dumpall", "pg_basebackup"], "Writes a database into a file.")
        .values("-f -h -p -U -d -n -t -F -j -Z -D --file --host --port --username --dbname --schema --table --format --jobs --pgdata")
        .cases(&[always(&[Writes(Value("-f --file -D --pgdata"))])])
        .examples(&["pg_dump -f /etc/x db", "pg_dump db --file=/etc/x"], &["pg_dump -f dump.sql db"]),
    page(&["mysqldump", "mariadb-dump"], "Writes a database into a file.")
        .values("-r -T -h -P -u --result-file --tab --host --port --user")
        .cases(&[always(&[Writes(Value("-r --result-file -T --tab --log-error"))])])
        .examples(&["mysqldump -r /etc/x db", "mysqldump --tab=/etc db"], &["mysqldump -r dump.sql db"]),
    page(&["mongodump", "redis-dump"], "Writes a database into files.")
        .values("-o --out --archive -d --db -c --collection -h --host --uri")
        .cases(&[always(&[Writes(Value("-o --out --archive"))])])
        .examples(&["mongodump --out /etc/x", "mongodump -o /etc"], &["mongodump --out dump"]),
    page(&["openssl"], "Keys, certificates and encryption.")
        .style(Style::Words)
        .values("-out -keyout -in -inkey -days -subj -newkey -config -passin -passout -CA -CAkey -writerand -connect")
        .help("help -help --help")
        .cases(&[sub("*", &[Writes(Value("-out -keyout -writerand"))])])
        .examples(&["openssl rand -out /etc/x 5", "openssl req -keyout /etc/ssl/private/x -new"], &["openssl rand -out key 32", "openssl rand 5"]),
    page(&["tcpdump", "tshark", "dumpcap"], "Records what goes over the network.")
        .values("-w -i -c -r -s -G -C -W -z -f -Y")
        .cases(&[always(&[Writes(Value("-w"))])])
        .examples(&["tcpdump -w /etc/x -i eth0"], &["tcpdump -w x.pcap", "tcpdump -r x.pcap"]),
    page(&["ssh-keygen"], "Makes keys.")
        .values("-f -t -b -N -C -P -R -F -I -s -n -V -z -m -O -Y")
        .dry_run("-l -F -y -B -L")
        .cases(&[always(&[Writes(Value("-f"))])])
        .examples(&["ssh-keygen -f /etc/ssh/ssh_host_rsa_key -N ''"], &["ssh-keygen -t ed25519 -f key -N ''", "ssh-keygen -lf /etc/ssh/x.pub"]),
];
