# What the standard library asks of a system: threads, processes, event loops, files, memory, clocks.
import asyncio, fcntl, hashlib, mmap, multiprocessing, os, queue, resource, selectors, signal, socket, struct
import subprocess, sys, tempfile, threading, time

print(sys.version_info[:2], os.uname().sysname, os.uname().machine)

done = []
lock = threading.Lock()
def work(i):
    for _ in range(200):
        with lock:
            pass
    done.append(i)
threads = [threading.Thread(target=work, args=(i,)) for i in range(33)]
for t in threads: t.start()
for t in threads: t.join()
print('threads', sorted(done) == list(range(33)))

q = queue.Queue(3)
def produce():
    for i in range(50): q.put(i)
    q.put(None)
threading.Thread(target=produce).start()
print('queue', sum(iter(q.get, None)))
e = threading.Event(); threading.Timer(0.02, e.set).start(); print('event', e.wait(5))
print('timeout', threading.Semaphore(0).acquire(timeout=0.02))

print('sub', subprocess.run(['tr', 'a-z', 'A-Z'], input=b'abc', capture_output=True).stdout)
p = subprocess.Popen(['sleep', '10'], start_new_session=True); os.killpg(p.pid, signal.SIGTERM); print('killed', p.wait())
try: subprocess.run(['sleep', '5'], timeout=0.05)
except subprocess.TimeoutExpired: print('expired')
try: subprocess.run(['/no/such'])
except FileNotFoundError as error: print(error)

a, b = socket.socketpair(); s = selectors.DefaultSelector(); s.register(b, selectors.EVENT_READ); a.send(b'x' * 1000)
print('selected', len(s.select(1)), len(b.recv(2000)), type(s).__name__)
socket.send_fds(a, [b'f'], [os.open('/dev/null', os.O_RDONLY)]); m, fds, _, _ = socket.recv_fds(b, 10, 4)
print('descriptor', m, os.read(fds[0], 1))

async def loop():
    p = await asyncio.create_subprocess_exec('cat', stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = await p.communicate(b'async')
    server = await asyncio.start_unix_server(lambda r, w: asyncio.ensure_future(echo(r, w)), '/tmp/py.sock')
    async def client(i):
        r, w = await asyncio.open_unix_connection('/tmp/py.sock')
        w.write(b'%d\n' % i); await w.drain(); line = await r.readline(); w.close(); return int(line)
    total = sum(await asyncio.gather(*map(client, range(20))))
    server.close(); await asyncio.sleep(0.01)
    return out, total, await asyncio.to_thread(os.getpid) == os.getpid()
async def echo(r, w):
    w.write(await r.readline()); await w.drain(); w.close()
print('loop', asyncio.run(loop()))

with tempfile.NamedTemporaryFile() as t:
    t.write(b'0' * 10000); t.flush(); m = mmap.mmap(t.fileno(), 0); m[5:8] = b'abc'; m.flush(); t.seek(4); print('mapped', t.read(5)); m.close()
    fcntl.flock(t, fcntl.LOCK_EX); fcntl.lockf(t, fcntl.LOCK_EX | fcntl.LOCK_NB); print('locked')
shared = mmap.mmap(-1, 4096)
if not os.fork(): shared[:4] = struct.pack('i', 42); os._exit(3)
print('shared', os.waitstatus_to_exitcode(os.wait()[1]), struct.unpack('i', shared[:4])[0])

signal.signal(signal.SIGALRM, lambda *_: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.05)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); os.kill(os.getpid(), signal.SIGUSR1); print('pending', signal.sigpending())
print('waited', signal.sigwait([signal.SIGUSR1])); print('none', signal.sigtimedwait([signal.SIGUSR2], 0.01))

def child(pipe, n): pipe.send([n, os.getppid() > 0]); pipe.close()
multiprocessing.set_start_method('fork'); here, there = multiprocessing.Pipe()
p = multiprocessing.Process(target=child, args=(there, 5)); p.start(); print('process', here.recv()); p.join(); print('code', p.exitcode)
with multiprocessing.Pool(4) as pool: print('pool', pool.map(abs, range(-5, 0)))

os.makedirs('/tmp/py/a/b', exist_ok=True); os.symlink('a', '/tmp/py/l'); os.rename('/tmp/py/a/b', '/tmp/py/c')
print('tree', sorted(os.listdir('/tmp/py')), os.path.realpath('/tmp/py/l'), [e.name for e in os.scandir('/tmp/py') if e.is_dir(follow_symlinks=False)] != [])
fd = os.open('/tmp/py/f', os.O_RDWR | os.O_CREAT); os.pwrite(fd, b'abc', 100); print('holes', os.fstat(fd).st_size, os.pread(fd, 3, 99), os.lseek(fd, 0, os.SEEK_END))
os.ftruncate(fd, 50); print('times', os.utime(fd, ns=(10 ** 18, 2 * 10 ** 18)), os.stat('/tmp/py/f').st_mtime_ns); print('copied', os.sendfile(os.open('/tmp/py/g', os.O_CREAT | os.O_WRONLY), fd, 0, 50))
print('pipe', os.pipe2(os.O_NONBLOCK) and True, os.get_inheritable(fd), os.eventfd(7) > 0, os.memfd_create('m') > 0, os.pidfd_open(os.getpid()) > 0)
print('sysconf', os.sysconf('SC_PAGESIZE'), resource.getrlimit(resource.RLIMIT_NOFILE)[0], resource.getrusage(resource.RUSAGE_SELF).ru_utime > 0)
print('clocks', time.clock_gettime(time.CLOCK_MONOTONIC) < time.clock_gettime(time.CLOCK_MONOTONIC), time.process_time() > 0, time.thread_time() > 0)
print(hashlib.sha256(b'x' * 100000).hexdigest())
