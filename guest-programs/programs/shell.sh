# What bash and the tools of coreutils do with processes, pipes, signals and files.
bash --version | head -1
cat <(echo a) <(echo b); diff <(seq 1 3) <(seq 2 4); paste <(echo 1) <(echo 2)
coproc cat; echo hello >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo "got $x"; eval "exec ${COPROC[1]}>&-"; wait
for i in $(seq 1 20); do (exit $i) & done; wait $!; echo "last $?"; wait
(trap 'echo term; exit 9' TERM; while :; do sleep 0.01; done) & p=$!; sleep 0.1; kill $p; wait $p; echo "trap $?"
set -m; sleep 10 & kill -STOP %1; sleep 0.1; jobs | tr -s ' '; kill -CONT %1; kill %1; wait %1; echo "job $?"; set +m
read -t 0.05 x < <(sleep 0.3); echo "read $?"
timeout 0.05 sleep 5; echo "timeout $?"
sort -R <(seq 1 5) | sort -n | tr '\n' ' '; sort -n --parallel=4 -S 1M <(seq 1 30000) | tail -1
seq 1 100000 | md5sum; yes | head -c 100000 | sha256sum; head -c 100000 /dev/zero | b2sum -l 64
seq 1 8 | xargs -P 4 -n 1 echo | sort | tr '\n' ' '; echo
mkdir -p a/b; touch a/b/c; ln -s c a/b/l; ln a/b/c a/b/h; mkfifo a/p; chmod 640 a/b/c
cp -a a d; mv d e; find e | sort; find e -type l -o -type p | sort; find e -links 2 -type f | sort
stat -c '%A %h %s %F' e/b/c e/b/l e/p; stat -c '%A %h %F' e; readlink -f e/b/l; realpath e/../e/b
install -m 750 a/b/c f; test -x f && echo executable; split -n 3 <(seq 1 9) s 2>&1 | head -1
dd if=/dev/zero of=z bs=64k count=10 2>/dev/null; truncate -s 1M z; stat -c %s z; cksum < z
rm -rf a e f z s??; ls -A; exec 5<>/tmp/f; echo five >&5; cat f; exec 5>&-; rm f
echo one > o; (echo two >&9) 9>> o; cat o; rm o
cd /proc/self && pwd -P | grep -c '^/proc/[0-9]*$'; cd /tmp; ulimit -n; ulimit -s; umask; id -u; nice; nice -n 5 nice
printf '%s\n' "$BASH_VERSION" | cut -d. -f1; kill -l 15; { (kill -SEGV $BASHPID); } 2>/dev/null; echo "segv $?"
env -i A=b env; echo $((2 ** 40)) "${#PATH}"; [[ -e /proc/self/exe ]] && basename "$(readlink /proc/$$/exe)"
tee >(cat > o2) < <(echo tee); sleep 0.1; cat o2; rm o2; shuf -i 1-5 | sort | tr '\n' ' '; echo; factor 600851475143; expr 6 \* 7
