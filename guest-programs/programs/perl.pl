# Processes, pipes, sockets, signals and files as perl makes them.
use strict; use warnings; use Socket; use POSIX ':sys_wait_h';
$| = 1;
printf "perl %vd\n", $^V;
my $pid = fork // die; exit 7 unless $pid;
waitpid $pid, 0; print "exit ", $? >> 8, "\n";
pipe my $r, my $w; if (!fork) { close $r; print $w join(",", map { $_ * $_ } 1 .. 1000); exit } close $w;
my $got = <$r>; wait; print "pipe ", length $got, "\n";
socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC or die $!;
syswrite $a, "x" x 5000; my $n = sysread $b, my $buf, 10000; print "socket $n\n";
local $SIG{ALRM} = sub { print "alarm\n" }; alarm 1; sleep 5;
{
    my $children = 0;
    local $SIG{CHLD} = sub { $children++ while waitpid(-1, WNOHANG) > 0 };
    for (1 .. 10) { fork or exit }
    for (1 .. 100) { select undef, undef, undef, 0.05; last if $children == 10 }
    print "children $children\n";
}
open my $f, '+>', "/tmp/perl" or die; print $f "line $_\n" for 1 .. 100; seek $f, 0, 0; my @l = <$f>; print "lines ", scalar @l, "\n";
truncate $f, 10; print "size ", -s $f, "\n"; close $f; unlink "/tmp/perl"; print -e "/tmp/perl" ? "there" : "gone", "\n";
my $out = `echo sub; exit 3`; print "$out", $? >> 8, "\n";
