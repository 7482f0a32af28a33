// Bytes as letters of ASCII: four bytes are five digits of base 85, so the text is a sixteenth
// shorter than base64. The digits are the letters from `#` on, without `<`, so that nothing in a
// <script> ends it.
const BASE = 85;
const FIRST = 35;
/** `<`, and the letter that takes its place: the first one behind all digits. */
const LESS = 60;
const INSTEAD = FIRST + BASE;

/** Behind the last byte are zeros, up to a multiple of four. */
export function toBase85(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  const words = new DataView(padded.buffer);
  const letters = new Uint8Array((padded.length / 4) * 5);
  for (let i = 0; i < padded.length / 4; i++) {
    let word = words.getUint32(i * 4);
    for (let digit = 4; digit >= 0; digit--) {
      const letter = FIRST + (word % BASE);
      letters[i * 5 + digit] = letter === LESS ? INSTEAD : letter;
      word = Math.floor(word / BASE);
    }
  }
  return new TextDecoder('latin1').decode(letters);
}

/** Of a text that is cut off or damaged: other bytes. */
export function fromBase85(text: string): Uint8Array<ArrayBuffer> {
  const words = new DataView(new ArrayBuffer(Math.floor(text.length / 5) * 4));
  for (let i = 0; i < words.byteLength / 4; i++) {
    let word = 0;
    for (let at = i * 5; at < i * 5 + 5; at++) {
      const letter = text.charCodeAt(at);
      word = word * BASE + (letter === INSTEAD ? LESS : letter) - FIRST;
    }
    words.setUint32(i * 4, word);
  }
  return new Uint8Array(words.buffer);
}
