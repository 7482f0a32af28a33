// <kcovbox-run>: a run in a page of somebody else, such as a chapter of a textbook. It is a frame
// with the page of this script's folder, so its host and that of the chapter need not be the same,
// neither sets a header, and the styles of the two do not meet.
//
//   <script defer src="https://host/kcovbox/kcovbox-run.js"></script>
//   <kcovbox-run program="hello" line="kernel/fs/sys_rw.c:74" height="40rem"></kcovbox-run>
//
//   program    a program of the page's menu, or
//   src        the address of a capsule, relative to the chapter
//   line       FILE:LINE to show
//   moment     the unit to go to
//   height     a CSS length; 36rem by default
//   autostart  starts when it is scrolled into view; else the reader presses a button
//
// Events: `verdict`, whose `detail` is the page's sentence about the run.
import { type FromFrame, isFromFrame, type ToFrame } from './messages.ts';

const NAME = 'kcovbox-run';
const HEIGHT = '36rem';

/** The folder of this script: as a module it is not the current script, so it is looked for. */
function folder(): URL {
  const script =
    (document.currentScript as HTMLScriptElement | null) ??
    document.querySelector<HTMLScriptElement>('script[src*="kcovbox-run.js"]');
  return new URL('./', script?.src ?? document.baseURI);
}
const page = folder();

class KcovboxRun extends HTMLElement {
  static readonly observedAttributes = ['program', 'src', 'line', 'moment', 'height'];
  #frame: HTMLIFrameElement | undefined;
  #seen: IntersectionObserver | undefined;
  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #listener = (event: MessageEvent): void => {
    if (this.#frame && event.source === this.#frame.contentWindow && isFromFrame(event.data))
      this.#heard(event.data);
  };

  connectedCallback(): void {
    addEventListener('message', this.#listener);
    this.#show();
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#listener);
    this.#seen?.disconnect();
    this.#frame = undefined;
    this.#root.replaceChildren();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || !this.isConnected) return;
    if (name === 'height') this.style.height = now ?? HEIGHT;
    else if (this.#frame) this.start();
    else this.#show();
  }

  /** Starts the run, or starts it again. */
  start(): void {
    this.#seen?.disconnect();
    const frame = document.createElement('iframe');
    frame.title = `kcovbox: ${this.#name}`;
    frame.allow = 'clipboard-write';
    Object.assign(frame.style, { border: '0', width: '100%', height: '100%' });
    frame.src = this.#address;
    this.#frame = frame;
    this.#root.replaceChildren(frame);
  }

  get #name(): string {
    const src = this.getAttribute('src')?.replace(/.*\/|\.kcapsule$/g, '');
    return this.getAttribute('program') ?? src ?? 'a run';
  }

  get #address(): string {
    const words = new URLSearchParams({ embed: '1' });
    const program = this.getAttribute('program');
    if (this.hasAttribute('src')) words.set('wait', '1');
    else if (program) words.set('program', program);
    const [, file, line] = /^(.+):(\d+)$/.exec(this.getAttribute('line') ?? '') ?? [];
    if (file && line) for (const [name, value] of Object.entries({ file, line })) words.set(name, value);
    const moment = this.getAttribute('moment');
    if (moment) words.set('unit', moment);
    const url = new URL(page);
    url.hash = `${words}`;
    return url.href;
  }

  #show(): void {
    Object.assign(this.style, {
      display: 'block',
      boxSizing: 'border-box',
      height: this.getAttribute('height') ?? HEIGHT,
      border: '1px solid color-mix(in srgb, currentColor 25%, transparent)',
      borderRadius: '6px',
      overflow: 'hidden',
    });
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = `▶ Run ${this.#name}`;
    Object.assign(button.style, { font: 'inherit', width: '100%', height: '100%', cursor: 'pointer' });
    button.addEventListener('click', () => this.start());
    this.#root.replaceChildren(button);
    if (!this.hasAttribute('autostart')) return;
    // A chapter may have many: each machine starts when it is seen.
    this.#seen?.disconnect();
    this.#seen = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) this.start();
    });
    this.#seen.observe(this);
  }

  #heard(message: FromFrame): void {
    if (message.kcovbox === 'verdict')
      this.dispatchEvent(new CustomEvent('verdict', { detail: message.text, bubbles: true }));
    else void this.#send();
  }

  /** The page cannot request addresses of others, so the capsule is sent to it. */
  async #send(): Promise<void> {
    const src = this.getAttribute('src');
    const to = this.#frame?.contentWindow;
    if (src === null || !to) return;
    let message: ToFrame;
    try {
      const response = await fetch(new URL(src, document.baseURI));
      if (!response.ok) throw new Error(`${response.status}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      message = { kcovbox: 'capsule', name: src.replace(/.*\//, '').slice(-200), bytes };
    } catch (error) {
      message = {
        kcovbox: 'failed',
        text: `${src.slice(0, 1000)} cannot be loaded: ${(error as Error).message}`,
      };
    }
    // A page from the disk has no origin to name.
    to.postMessage(message, page.origin === 'null' ? '*' : page.origin);
  }
}

if (!customElements.get(NAME)) customElements.define(NAME, KcovboxRun);
