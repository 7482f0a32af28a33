// A device of the user's own as one word of a command line.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deviceText, splitDevice } from '../../host/device-text.ts';

test('a word is a path and parameters; two commas are one', () => {
  expect(splitDevice('./d.ts')).toEqual({ path: './d.ts', params: {} });
  expect(splitDevice('a,,b/d.ts,depth=8,name=x,,y=z')).toEqual({
    path: 'a,b/d.ts',
    params: { depth: '8', name: 'x,y=z' },
  });
});

test.each(['d.ts,depth', 'd.ts,=8', 'd.ts,'])('%s is refused', text =>
  expect(() => splitDevice(text)).toThrow(/^device d\.ts: ".*" is not NAME=VALUE$/),
);

test('a path and parameters of any text survive', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ',', '=', '.', ' ', '/') });
  const name = fc.stringMatching(/^[a-z]{1,4}$/);
  fc.assert(
    fc.property(text, fc.dictionary(name, text, { maxKeys: 3, noNullPrototype: true }), (path, params) => {
      expect(splitDevice(deviceText({ path, params }))).toEqual({ path, params });
    }),
    { seed: Number(process.env['KCOVBOX_SEED'] ?? 1) },
  );
});
