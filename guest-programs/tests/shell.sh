# What usual tools print: run by busybox's shell in the guest and on Linux, where it must be the same.
# Usage: busybox sh shell.sh DIRECTORY (empty; left dirty). Exit status 9.
exec 2>&1; cd $1 && umask 022
printf 'c 3\na 1\nb 2\na 1\n' > t
sort t; sort -r t; sort -k2 -n t; sort -u t | head -2; tail -1 t; tail -c 4 t; uniq -c t
cut -d' ' -f2 t; rev t; tac t; nl t; wc -l < t; head -c 5 t; echo; fold -w2 t; paste -s t; expand t | od -c
sed -e 's/a/X/' -e '/b/d' t; sed -n '2,3p' t; sed -i 's/c/Q/' t; cat t; sed 's/\(.\) \(.\)/\2-\1/' t
grep -n 1 t; grep -vc 1 t; grep -o '[ab]' t; grep -E '^(Q|b)' t; egrep -q zzz t; echo grep $?
awk '{ s[$1] += $2 } END { for (k in s) print k, s[k] }' t | sort
awk -F' ' 'BEGIN { OFS=":" } NR % 2 { print NR, $2, length($0), toupper($1) }' t
seq 1 1000 | awk '{ s += $1 } END { print s }'; seq 10 | tr '\n' ' '; seq 100 | md5sum; seq 100 | sha1sum
echo one two three | tr ' ' '\n' | while read w; do echo "<$w>"; done
mkdir -p a/b/c; echo f > a/b/f; ln -s f a/b/l; ln a/b/f a/b/h; cp -a a a2; diff -r a a2 && echo same
mv a2 a3; rm -rf a; find a3 | sort; find a3 -type l; readlink a3/b/l; stat -c '%F %h %a %s' a3/b/f a3/b/l
tar cf x.tar a3; tar tf x.tar | sort; mkdir out; tar xf x.tar -C out; find out -type f | sort | while read f; do cat $f; done
gzip -c t | gunzip -c | cmp - t && echo gzip; bzip2 -c t | bunzip2 -c | cmp - t && echo bzip2
dd if=/dev/zero of=z bs=1k count=3 2> /dev/null; wc -c < z; dd if=t bs=2 skip=1 count=2 2> /dev/null; echo
chmod 640 t; ls -l t | cut -c1-10; chmod u+x,go= t; stat -c %a t; touch -d '2001-02-03 04:05:06' t; date -u -r t +%F,%T
cmp t z > /dev/null; echo cmp $?
printf '%s|%5d|%-5s|%x\n' str 42 left 255; echo $((7 * 6 % 5)) $((1 << 10)); expr 3 + 4 \* 2; basename /a/b.c .c; dirname /a/b
case abc in a*c) echo case ;; esac; for i in 1 2 3; do (exit $i); echo status $?; done; f() { return 3; }; f; echo $?
set -- x y z; echo $# $2; shift; echo "$@"; v=abcdef; echo ${v#ab} ${v%ef} ${#v} ${u:-default}; echo $(echo nested $(echo deep))
trap 'echo caught' USR1; kill -USR1 $$; (sleep 1 & wait; echo waited); cat <<X | sed 's/^/> /'
here $((1 + 1))
X
mkfifo p; (echo through > p &); cat p; echo err 2>&1 >&2 | cat; { echo a; echo b >&2; } 2> e; cat e
(echo 1; echo 2) | { read x; read y; echo $y$x; }; echo xargs | xargs; hexdump -C z | head -1; base64 t
truncate -s 5 z; stat -c %s z; test -s z && [ ! -e nope ] && echo tests; yes | head -2; true | false | true; echo $?; false; echo $?
sleep 0.01 & wait $!; echo wait $?; sh -c 'kill -9 $$'; echo killed $?; exit 9
