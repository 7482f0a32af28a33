// `-cpu` in QEMU's spelling, and the device tree's answer to it.

import { describe, expect, it, test } from 'vitest';
import { ALL_EXTENSIONS, EXTENSIONS, isaString, qemuCpu } from '../../emulator/isa/extensions.ts';
import { parseCpu } from '../../emulator/machine/cpu.ts';

describe('-cpu', () => {
  it.each(['rv64', 'rv64,sstc=on', 'rv64,sstc=off,sstc=true', 'rv64,h=off,mmu=on,Zicsr=on,v=false'])(
    '%s is the default hart',
    text => {
      expect(isaString(parseCpu(text))).toBe(isaString(parseCpu('rv64')));
    },
  );

  it('max has every extension', () => {
    expect(parseCpu('max')).toEqual(ALL_EXTENSIONS);
    expect(isaString(parseCpu('max,zicond=off'))).not.toContain('zicond');
  });

  it('switches an optional extension off', () => {
    expect(isaString(parseCpu('rv64'))).toContain('_sstc');
    expect(isaString(parseCpu('rv64,sstc=off'))).not.toContain('sstc');
    expect(qemuCpu(parseCpu('rv64,sstc=off'))).toContain('sstc=off');
  });

  it('rva22s64 has what the profile demands', () => {
    const same = 'rv64,zfhmin=on,zkt=on,svade=on,zfa=off,zbc=off,sstc=off,svnapot=off';
    expect(isaString(parseCpu('rva22s64'))).toBe(isaString(parseCpu(same)));
    expect(isaString(parseCpu('rva22s64'))).toContain('_svade_svinval_svpbmt');
    const missing = EXTENSIONS.filter(row => row.rva22 === 'mandatory' && row.presence === 'absent');
    expect(missing).toEqual([]);
  });

  it('zihpm can be switched off', () => {
    expect(isaString(parseCpu('rv64'))).toContain('_zihpm_');
    expect(isaString(parseCpu('rv64,zihpm=off'))).not.toContain('zihpm');
    expect(parseCpu('rva22s64')).toContain('zihpm');
    expect(qemuCpu(parseCpu('rva22s64,zihpm=off'), 10)).toContain('zihpm=off');
  });

  it('svade is the other side of svadu', () => {
    expect(isaString(parseCpu('rv64,svade=on'))).toMatch(/_svade_(?!svadu)/);
    expect(parseCpu('rva22s64,svade=off')).toEqual(parseCpu('rva22s64,svadu=on'));
    expect(qemuCpu(parseCpu('rva22s64'), 10)).toContain('svade=on,svadu=off');
  });

  it.each([
    ['rva22u64', /rva22u64 has no supervisor mode/],
    ['rv64,zawrs=on', /zawrs does not exist here: no instruction/],
    ['sifive-u54', /unknown model "sifive-u54"; known are rv64/],
    ['rv64,sstc', /"sstc" must be NAME=on or NAME=off/],
    ['rv64,zicsr=off', /zicsr is always on/],
    ['rv64,mmu=off', /mmu is always on/],
    ['rv64,v=on', /v does not exist here: vectors/],
    ['rv64,xyz=on', /unknown extension "xyz"/],
  ])('refuses %s', (text, why) => {
    expect(() => parseCpu(text)).toThrow(why);
  });
});

test('the isa string is spelled as QEMU spells it', () => {
  // Order of QEMU 7.2's isa_edata_arr.
  const order = 'zicsr zifencei zihintpause zfhmin zba zbb zbc zbs sstc svinval svnapot svpbmt'.split(' ');
  const names = isaString(parseCpu('rv64')).split('_').slice(1);
  const known = names.filter(name => order.includes(name));
  expect(known).toEqual(order.filter(name => names.includes(name)));
});
