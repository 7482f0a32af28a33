// An editor of C.
import type { Extension } from '@codemirror/state';
import { EditorView, type KeyBinding, keymap, lineNumbers } from '@codemirror/view';
import { addKeys, addLanguage, colours } from './language.ts';

/** `label`: its name for people who hear the page; `keys` come before its own. */
export function cEditor(
  parent: HTMLElement,
  doc: string,
  label: string,
  keys: readonly KeyBinding[],
  more: Extension = [],
): EditorView {
  const view = new EditorView({
    doc,
    extensions: [
      lineNumbers(),
      colours,
      keymap.of([...keys]),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      more,
    ],
    parent,
  });
  addKeys(view);
  addLanguage(view);
  return view;
}
