// Values of options that several verbs share.
import { expect, it } from 'vitest';
import { parseAddress, parseRegex, parseSeed, parseWithin } from '../../cli/io/values.ts';

it('hexadecimal digits with 0x, 0X or neither', () => {
  for (const parse of [parseSeed, parseAddress]) {
    for (const text of ['ab', 'AB', '0xab', '0XAB', '00ab']) expect(parse(text), text).toBe(0xabn);
    for (const text of ['', '0x', 'xyz', '-1', '0x0x1', '1'.repeat(17)])
      expect(() => parse(text), text).toThrow(/up to 16 hexadecimal digits/);
  }
});

it('whole numbers within bounds', () => {
  const parse = parseWithin(1, 9, 'seconds from ');
  expect([parse('1'), parse('9')]).toEqual([1, 9]);
  for (const text of ['0', '10', '1.5', '-1', '1e0', '', ' 1'])
    expect(() => parse(text), text).toThrow('expected seconds from 1 to 9');
  expect(() => parseWithin(0, 255)('256')).toThrow('expected 0 to 255');
});

it('regular expressions', () => {
  expect(parseRegex('a.b').test('axb')).toBe(true);
  expect(() => parseRegex('(')).toThrow(/regular expression/);
});
