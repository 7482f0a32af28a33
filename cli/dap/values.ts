// The values of the guest as the client unfolds them: it asks for the parts of one by a number.
import { Handles } from '@vscode/debugadapter';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Absence, DebugSession } from '../../debug/session.ts';
import { memberOf, type Read, type Value } from '../../debug/values.ts';
import { readRegister, registerNumber, X_NAMES } from '../../emulator/index.ts';

interface Named {
  readonly name: string;
  /** Or why there is none. */
  readonly value: Value | Absence | 'not readable';
}

const ITEMS_MAX = 100;
const BYTES_MAX = 1 << 16;
const REGISTERS = [...X_NAMES.slice(1), 'pc'];
const VOID = { kind: 'void' as const, name: 'void' as const, bytes: 0 as const };

export class ClientValues {
  readonly #parts = new Handles<() => readonly Named[]>();

  /** The run has moved: the client asks again. */
  reset(): void {
    this.#parts.reset();
  }

  /** Numbers of the variables of the selected frame, and of the registers of its hart. */
  scopes(session: DebugSession): { readonly locals: number; readonly registers: number } {
    const locals = session.locals.map(variable => ({
      name: variable.name,
      value: session.valueHere(variable),
    }));
    return {
      locals: this.#parts.create(() => locals),
      registers: this.#parts.create(() => registersOf(session)),
    };
  }

  /** The variables of this number. */
  parts(session: DebugSession, reference: number): P.Variable[] {
    const all = this.#parts.get(reference)?.() ?? [];
    return all.map(({ name, value }) => this.variable(session, name, value));
  }

  variable(session: DebugSession, name: string, value: Named['value']): P.Variable {
    if (typeof value === 'string') return { name, value: `<${value}>`, variablesReference: 0 };
    const inner = inside(value, session.read);
    return {
      name,
      value: session.show(value),
      type: value.type.name,
      variablesReference: inner ? this.#parts.create(inner) : 0,
    };
  }
}

/** The parts of a value; read when the client asks. */
function inside(value: Value, read: Read): (() => readonly Named[]) | undefined {
  const { type, bytes } = value;
  if (type.kind === 'struct')
    return () =>
      type
        .members()
        .slice(0, ITEMS_MAX)
        .map(member => ({ name: member.name || '(anonymous)', value: memberOf(value, member) }));
  if (type.kind === 'array' && type.of.bytes > 0)
    return () =>
      Array.from(
        { length: Math.min(type.count, ITEMS_MAX, Math.floor(bytes.length / type.of.bytes)) },
        (_, i) => ({ name: `[${i}]`, value: memberOf(value, { type: type.of, offset: i * type.of.bytes }) }),
      );
  if (type.kind !== 'pointer') return undefined;
  const to = type.to();
  if (to.kind !== 'struct' || bytes.every(byte => byte === 0)) return undefined;
  return () => {
    const va = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
    const data = read(va, Math.min(to.bytes, BYTES_MAX));
    const target: Value | undefined = data && { type: to, place: { kind: 'memory', va }, bytes: data };
    return target ? inside(target, read)!() : [{ name: '*', value: 'not readable' }];
  };
}

function registersOf({ hart }: DebugSession): Named[] {
  return REGISTERS.map(name => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, readRegister(hart, registerNumber(name)!) ?? 0n, true);
    const type = { kind: 'pointer' as const, name: 'register', bytes: 8 as const, to: () => VOID };
    return { name, value: { type, place: undefined, bytes } };
  });
}
