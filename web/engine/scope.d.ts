// The part of a worker's global scope that worker.ts uses. The types of the DOM have another
// WebAssembly than the emulator's own (emulator/base/webassembly.d.ts).
declare const self: {
  onmessage:
    | ((event: { readonly data: import('../protocol.ts').Request | import('../protocol.ts').Sent }) => void)
    | null;
  postMessage(message: import('../protocol.ts').Answer | import('../protocol.ts').Wanted): void;
};
