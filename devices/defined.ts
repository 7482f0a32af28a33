// Makes a device of a definition (emulator/bus/define.ts): registers by RegMap, state and random
// numbers that are saved, and the context that is all a handler can reach.

import {
  aFunction,
  anObject,
  aString,
  aWhole,
  type Check,
  is,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../emulator/base/arguments.ts';
import { HostError } from '../emulator/base/errors.ts';
import {
  type DeviceContext,
  type DeviceDefinition,
  type FieldSpec,
  notPlain,
  type Params,
  type Plain,
  type RegisterSpec,
  type RuleSpec,
} from '../emulator/bus/define.ts';
import type {
  Alarm,
  ClockPort,
  Device,
  FdtNode,
  IrqLine,
  Placement,
  RamPort,
  StateCheck,
  WorkPort,
} from '../emulator/bus/device.ts';
import { RegMap, type RegRow } from '../emulator/bus/regmap.ts';

export interface DefinedPorts {
  readonly clock: ClockPort;
  readonly irq: IrqLine;
  readonly ram: RamPort;
  readonly work: WorkPort;
  readonly seed: bigint;
  readonly log: (line: string) => void;
  /** A rule of the definition was violated by the access that runs, or by DMA. */
  readonly violated?: (rule: string, doc: string) => void;
  /** Does freed memory belong to the range? */
  readonly isFreed?: (address: number, bytes: number) => boolean;
}

const SIZE_DEFAULT = 0x1000;
const SIZE_MAX = 0x1_0000;
/** Most bytes of one DMA transfer. */
const DMA_MAX = 2 ** 24;

interface Saved {
  regs: Record<string, number[]>;
  state: Record<string, Plain>;
  rng: number;
}

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Host work of an alarm: a device may set one for each unit of time. */
const ALARM_WORK = 1024;

/** The text of a value that the author's code threw, which may be anything. */
function textOf(thrown: unknown): string {
  try {
    return String((thrown as { message?: unknown } | null)?.message ?? thrown).split('\n')[0]!;
  } catch {
    return 'it threw a value that has no text';
  }
}

const specsOf = (d: DeviceDefinition): [string, RegisterSpec][] => Object.entries(d.registers);

/** The register map of a definition. Errors: HostError that says what is wrong with it. */
export function mapOf(d: DeviceDefinition): RegMap<string> {
  const rows = specsOf(d).map(([id, s]): RegRow<string> => {
    const { at, bytes = 4, access, doc, count, stride } = s;
    return { id, at, bytes, access, doc, ...(count && { count }), ...(stride && { stride }) };
  });
  try {
    return new RegMap({ title: d.name, spec: d.compatible, size: d.size ?? SIZE_DEFAULT }, rows);
  } catch (error) {
    throw new HostError(`device ${(error as Error).message}`);
  }
}

const UINT32 = aWhole(0, 2 ** 32 - 1);
const isBit = (value: unknown): boolean => aWhole(0, 31)(value, '') === undefined;

const FIELD = optionsOf<FieldSpec>({
  bits: is('a bit from 0 to 31, or two of them', value =>
    Array.isArray(value) ? value.length === 2 && value.every(isBit) : isBit(value),
  ),
  doc: aString,
  values: optional(recordOf(UINT32)),
});

const REGISTER = optionsOf<RegisterSpec>({
  at: aWhole(0),
  bytes: optional(oneOf(1, 2, 4, 8)),
  access: oneOf('r', 'w', 'rw'),
  doc: aString,
  reset: optional(aWhole(0)),
  w1c: optional(UINT32),
  count: optional(aWhole(1, SIZE_MAX)),
  stride: optional(aWhole(1, SIZE_MAX)),
  fields: optional(recordOf(FIELD)),
});

const RULE = optionsOf<RuleSpec>({
  doc: aString,
  write: optional(recordOf(optional(aFunction))),
  dma: optional(aFunction),
});

const HANDLERS = optional(recordOf(optional(aFunction)));

/** The parts of a definition; those with rules of their own are checked further. */
const DEFINITION: Check = optionsOf<DeviceDefinition>({
  name: aString,
  compatible: aString,
  doc: aString,
  size: optional(aWhole(0)),
  params: optional(anObject),
  registers: recordOf(REGISTER),
  state: optional(anObject),
  onReset: optional(aFunction),
  onRead: HANDLERS,
  onWrite: HANDLERS,
  onAlarm: HANDLERS,
  rules: optional(recordOf(RULE)),
});

/** Refuses a definition that could not work; the first thing that is wrong, in one line. */
export function checkDefinition(value: unknown): DeviceDefinition {
  const d = value as DeviceDefinition;
  const name = typeof d?.name === 'string' && /^[\x21-\x7e]{1,40}$/.test(d.name) ? ` ${d.name}` : '';
  const bad = (why: string): HostError => new HostError(`device${name}: ${why}`);
  if (anObject(value, '') !== undefined) throw new HostError('the device is not an object');
  if (!/^[a-z][a-z0-9_]{0,23}$/.test(String(d.name ?? '')))
    throw bad('name is not a lower-case C identifier');
  if (typeof d.compatible !== 'string' || !/^[\x21-\x7e]{1,64}$/.test(d.compatible))
    throw bad('compatible is not a word, such as "vendor,device"');
  const fault = DEFINITION(value, '');
  if (fault !== undefined) throw bad(fault.slice(1));
  const size = d.size ?? SIZE_DEFAULT;
  if (!(size >= SIZE_DEFAULT && size <= SIZE_MAX && Number.isInteger(Math.log2(size))))
    throw bad(`size ${size} is not a power of two from ${SIZE_DEFAULT} to ${SIZE_MAX}`);
  for (const [id, spec] of specsOf(d)) checkRegister(id, spec, bad);
  const why = notPlain(d.state ?? {}, 'state') ?? notPlain(d.params ?? {}, 'params');
  if (why) throw bad(why);
  for (const part of ['onRead', 'onWrite'] as const)
    for (const id of Object.keys(d[part] ?? {}))
      if (!(id in d.registers)) throw bad(`${part}.${id} is of no register`);
  for (const [name, { write = {} }] of Object.entries(d.rules ?? {}))
    for (const id of Object.keys(write))
      if (!(id in d.registers)) throw bad(`rules.${name}.write.${id} is of no register`);
  mapOf(d);
  return d;
}

/**
 * Checks a definition and gives its handlers their types; the result is the definition itself.
 * Errors: KcovboxError with the first thing that is wrong.
 */
export function defineDevice<R extends string, P extends Params, S extends Record<string, Plain>>(
  definition: DeviceDefinition<R, P, S>,
): DeviceDefinition {
  return checkDefinition(definition);
}

function checkRegister(id: string, spec: RegisterSpec, bad: (why: string) => HostError): void {
  if (!/^[a-zA-Z][a-zA-Z0-9_]*$/.test(id)) throw bad(`register ${id} is not a C identifier`);
  const bytes = spec.bytes ?? 4;
  if (spec.at % bytes !== 0) throw bad(`register ${id} is at ${spec.at}, which is not aligned`);
  for (const [name, field] of Object.entries(spec.fields ?? {})) {
    const { low, high } = bitsOf(field);
    if (!(low >= 0 && low <= high && high < Math.min(32, 8 * bytes)))
      throw bad(`field ${id}.${name} has bits ${low} to ${high} of ${8 * bytes}`);
    const width = high - low + 1;
    for (const [value, number] of Object.entries(field.values ?? {}))
      if (!(Number.isInteger(number) && number >= 0 && number < 2 ** width))
        throw bad(`${id}.${name} has ${width} bits, so it is never ${number} (${value})`);
  }
}

export function bitsOf({ bits }: FieldSpec): { low: number; high: number } {
  return typeof bits === 'number' ? { low: bits, high: bits } : { low: bits[0], high: bits[1] };
}

/**
 * Defaults with the user's texts in their place. Errors: HostError for a name or a value that does
 * not fit.
 */
export function paramsOf(d: DeviceDefinition, given: Readonly<Record<string, string>>): Params {
  const defaults = d.params ?? {};
  const params: Record<string, number | string | boolean> = { ...defaults };
  for (const [name, text] of Object.entries(given)) {
    const old = defaults[name];
    const names = Object.keys(defaults).join(', ') || 'it has none';
    if (old === undefined) throw new HostError(`device ${d.name} has no parameter ${name}: ${names}`);
    const value = typeof old === 'number' ? Number(text) : typeof old === 'boolean' ? text === 'true' : text;
    if (typeof value === 'number' && (text.trim() === '' || !Number.isFinite(value)))
      throw new HostError(`device ${d.name}: ${name}=${text} is not a number`);
    if (typeof old === 'boolean' && text !== 'true' && text !== 'false')
      throw new HostError(`device ${d.name}: ${name}=${text} is neither true nor false`);
    params[name] = value;
  }
  return params;
}

export class DefinedDevice implements Device {
  readonly name: string;
  readonly definition: DeviceDefinition;
  readonly map: RegMap<string>;
  readonly #ports: DefinedPorts;
  readonly #alarms = new Map<string, Alarm>();
  readonly #params: Params;
  readonly #context: DeviceContext;
  #regs: Record<string, number[]> = {};
  #state: Record<string, Plain> = {};
  #rng = 1;

  constructor(definition: DeviceDefinition, params: Params, ports: DefinedPorts) {
    this.definition = checkDefinition(definition);
    this.name = definition.name;
    this.map = mapOf(definition);
    const named = onlyDeclared<Params>('parameter', Object.keys(params));
    this.#params = Object.freeze(Object.defineProperties(named, propertiesOf(params)));
    this.#ports = ports;
    for (const [name, fire] of Object.entries(definition.onAlarm ?? {}))
      this.#alarms.set(
        name,
        ports.clock.alarm(`${this.name}.${name}`, () => {
          ports.work.spend(ALARM_WORK);
          this.#run(`onAlarm.${name}`, () => fire(this.#context));
        }),
      );
    this.#context = this.#makeContext();
  }

  read(offset: number, bytes: number): number {
    return this.map.read(offset, bytes, this.#get);
  }

  write(offset: number, bytes: number, value: number): void {
    this.map.write(offset, bytes, value, this.#set, this.#stored);
  }

  peek(offset: number, bytes: number): number {
    return this.map.read(offset, bytes, this.#stored);
  }

  values(offset: number): readonly number[] {
    const hit = this.map.find(offset, 'r');
    const { fields = {}, reset = 0 } = hit ? this.definition.registers[hit.row.id]! : {};
    const ofField = (field: FieldSpec): number[] => {
      const { low, high } = bitsOf(field);
      const named = Object.values(field.values ?? {}).map(value => (value * 2 ** low) >>> 0);
      return [...named, ((2 ** (high - low + 1) - 1) * 2 ** low) >>> 0];
    };
    return [reset, ...Object.values(fields).flatMap(ofField)];
  }

  reset(): void {
    this.#regs = {};
    for (const [id, { bytes = 4, count = 1, reset = 0 }] of specsOf(this.definition)) {
      const one = bytes === 8 ? [reset >>> 0, Math.floor(reset / 2 ** 32) >>> 0] : [reset >>> 0];
      this.#regs[id] = Array.from({ length: count }, () => one).flat();
    }
    this.#state = this.#declared(copy(this.definition.state ?? {}));
    this.#rng = Number(BigInt.asUintN(32, this.#ports.seed ^ hashOf(this.name)));
    for (const alarm of this.#alarms.values()) alarm.clear();
    this.#ports.irq.lower();
    this.#run('onReset', () => this.definition.onReset?.(this.#context));
  }

  save(): unknown {
    return this.#run('save', () => {
      const why = notPlain({ ...this.#state }, 'state');
      if (why) throw new HostError(`device ${this.name}: ${why}`);
      return copy({ regs: this.#regs, state: this.#state, rng: this.#rng } satisfies Saved);
    });
  }

  load(saved: unknown): void {
    const { regs, state, rng } = copy(saved as Saved);
    this.#regs = regs;
    this.#state = this.#declared(state);
    this.#rng = rng;
  }

  /** The state is the author's: lists and texts in it grow, and numbers may be fractions. */
  checkState(saved: unknown, own: unknown, { same, refuse }: StateCheck): void {
    const { state, ...rest } = Object(saved) as Partial<Saved>;
    const { state: mine, ...others } = own as Saved;
    same('registers', others, rest);
    const names = Object.keys(mine);
    const why = notPlain(state, 'state');
    if (why) refuse(why);
    const isRecord = state !== null && typeof state === 'object' && !Array.isArray(state);
    const found = isRecord ? Object.keys(state) : [];
    if (!isRecord || found.length !== names.length || !names.every(name => found.includes(name)))
      refuse(`its state has other fields than ${names.join(', ') || 'none'}`);
  }

  #declared(state: Record<string, Plain>): Record<string, Plain> {
    const names = Object.keys(this.definition.state ?? {});
    return Object.seal(Object.defineProperties(onlyDeclared('state', names), propertiesOf(state)));
  }

  reseed(seed: number): void {
    this.#rng = seed;
  }

  fdtNode({ base, size, irq, intc }: Placement): FdtNode {
    return {
      name: `${this.name.replaceAll('_', '-')}@${base.toString(16)}`,
      props: {
        interrupts: [irq],
        'interrupt-parent': [intc],
        reg: [0, base, 0, size],
        compatible: this.definition.compatible,
      },
    };
  }

  readonly #slot = (id: string, index: number, word: number): number =>
    this.definition.registers[id]!.bytes === 8 ? 2 * index + word : index;

  readonly #stored = (id: string, index: number, word: number): number =>
    this.#regs[id]![this.#slot(id, index, word)] ?? 0;

  readonly #get = (id: string, index: number, word: number): number => {
    const handler = this.definition.onRead?.[id];
    if (!handler) return this.#stored(id, index, word);
    return Number(this.#run(`onRead.${id}`, () => handler(this.#context, index, word))) >>> 0;
  };

  readonly #set = (id: string, value: number, index: number, word: number): void => {
    this.#checkWrite(id, value, index, word);
    const w1c = word === 0 ? (this.definition.registers[id]!.w1c ?? 0) : 0;
    const slot = this.#slot(id, index, word);
    const old = this.#regs[id]![slot] ?? 0;
    this.#regs[id]![slot] = ((value & ~w1c) | (old & w1c & ~value)) >>> 0;
    const handler = this.definition.onWrite?.[id];
    if (handler) this.#run(`onWrite.${id}`, () => handler(this.#context, value, index, word));
  };

  #checkWrite(id: string, value: number, index: number, word: number): void {
    for (const [name, { doc, write }] of Object.entries(this.definition.rules ?? {})) {
      const rule = write?.[id];
      if (rule && this.#run(`rules.${name}`, () => rule(this.#context, value, index, word)))
        this.#ports.violated?.(name, doc);
    }
  }

  #checkTransfer(address: number, bytes: number, toMemory: boolean): void {
    for (const [name, { doc, dma }] of Object.entries(this.definition.rules ?? {})) {
      if (!dma) continue;
      const isFreed = this.#ports.isFreed?.(address, bytes) ?? false;
      const transfer = { address, bytes, toMemory, isFreed };
      if (this.#run(`rules.${name}`, () => dma(this.#context, transfer))) this.#ports.violated?.(name, doc);
    }
  }

  /** An error in the author's code ends the run with one line. */
  #run<T>(handler: string, call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof HostError) throw error;
      throw new HostError(`device ${this.name}: ${handler}: ${textOf(error)}`);
    }
  }

  #registers(): Record<string, number> {
    const view: Record<string, number> = onlyDeclared('register', Object.keys(this.definition.registers));
    for (const [id, { bytes = 4 }] of specsOf(this.definition))
      Object.defineProperty(view, id, {
        enumerable: true,
        get: () => this.#stored(id, 0, 0) + (bytes === 8 ? this.#stored(id, 0, 1) * 2 ** 32 : 0),
        set: (value: number) => {
          this.#regs[id]![0] = value >>> 0;
          if (bytes === 8) this.#regs[id]![1] = Math.floor(value / 2 ** 32) >>> 0;
        },
      });
    return Object.freeze(view);
  }

  #makeContext(): DeviceContext {
    const device = this;
    const { clock, irq, ram, work, log } = this.#ports;
    const alarm = (name: string): Alarm => {
      const found = this.#alarms.get(name);
      if (!found) throw new HostError(`device ${this.name} has no onAlarm.${name}`);
      return found;
    };
    const fits = (address: number, bytes: number): boolean =>
      Number.isInteger(address) && bytes >= 0 && bytes <= DMA_MAX && ram.has(address, bytes);
    return Object.freeze({
      param: this.#params,
      get state() {
        return device.#state;
      },
      reg: this.#registers(),
      irq: {
        raise: () => irq.raise(),
        lower: () => irq.lower(),
        set: (level: boolean) => (level ? irq.raise() : irq.lower()),
      },
      dma: {
        read: (address: number, bytes: number) => {
          if (!fits(address, bytes)) return undefined;
          work.spend(bytes);
          device.#checkTransfer(address, bytes, false);
          return ram.read(address, bytes);
        },
        write: (address: number, bytes: ArrayLike<number>) => {
          if (!fits(address, bytes.length)) return false;
          work.spend(bytes.length);
          device.#checkTransfer(address, bytes.length, true);
          ram.write(address, Uint8Array.from(bytes));
          return true;
        },
      },
      clock: {
        get now() {
          return clock.now() * clock.nsPerUnit;
        },
        after: (name: string, ns: number) => {
          if (!Number.isFinite(ns) || ns < 0)
            throw new HostError(
              `device ${this.name}: clock.after('${name}', ${ns}): give nanoseconds from 0 on`,
            );
          alarm(name).set(clock.now() + Math.max(1, Math.ceil(ns / clock.nsPerUnit)));
        },
        cancel: (name: string) => alarm(name).clear(),
      },
      random: () => this.#random(),
      log: (text: string) => log(`${this.name}: ${text}`),
    });
  }

  /** Splitmix with 32 bits: one word of state. */
  #random(): number {
    this.#rng = (this.#rng + 0x9e37_79b9) >>> 0;
    let z = this.#rng;
    z = Math.imul(z ^ (z >>> 16), 0x85eb_ca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2_ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }
}

const propertiesOf = (value: object): PropertyDescriptorMap => Object.getOwnPropertyDescriptors(value);

/** The members of every object, and the one that JSON.stringify asks for. */
const COMMON: object = Object.create(Object.prototype, { toJSON: { value: undefined } });

/**
 * An object for these names, whose prototype refuses all others: types of a device's file are not
 * checked, and a misspelt name would be undefined, which reads as 0. Declared names cost nothing.
 */
function onlyDeclared<T extends object>(kind: string, names: readonly string[]): T {
  const refuse = (name: string): never => {
    throw new Error(`there is no ${kind} ${name}: ${names.join(', ')}`);
  };
  const guard: ProxyHandler<object> = {
    get: (common, name) =>
      typeof name === 'symbol' || name in common ? Reflect.get(common, name) : refuse(name),
    set: (_, name) => refuse(String(name)),
  };
  return Object.create(new Proxy(COMMON, guard)) as T;
}

function hashOf(text: string): bigint {
  let hash = 0x811c_9dc5;
  for (const c of text) hash = Math.imul(hash ^ c.charCodeAt(0), 0x0100_0193);
  return BigInt(hash >>> 0);
}
