// Values of options that several verbs share.
import { expect, it } from 'vitest';
import { parseAddress, parsePercent, parseRegex, parseSeed, parseWithin } from '../../cli/io/values.ts';

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

it('per cent, with or without the sign; a share is not taken for one', () => {
  for (const text of ['5', '5%', '5.0%']) expect(parsePercent(text), text).toBe(5);
  expect([parsePercent('100'), parsePercent('0.05%'), parsePercent('1')]).toEqual([100, 0.05, 1]);
  expect(() => parsePercent('0.07')).toThrow('write 0.07%, or 7% if it is a share');
  for (const text of ['0', '0%', '101', '5 %', '-5', '', 'x', '1e1'])
    expect(() => parsePercent(text), text).toThrow('at most 100: 5% or 5');
});

it('regular expressions', () => {
  expect(parseRegex('a.b').test('axb')).toBe(true);
  expect(() => parseRegex('(')).toThrow(/regular expression/);
});
