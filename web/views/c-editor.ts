// An editor of C.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import type { Extension } from '@codemirror/state';
import { EditorView, type KeyBinding, keymap, lineNumbers } from '@codemirror/view';
import { addLanguage, colours } from './language.ts';

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
      history(),
      keymap.of([...keys, ...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      more,
    ],
    parent,
  });
  addLanguage(view);
  return view;
}
