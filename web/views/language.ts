// C in editors. Its grammar is a library of its own (web/libraries/cpp.ts), because the state of a
// line is seen without it. The library uses the modules that the page has, so it gets them here.
import {
  continuedIndent,
  delimitedIndent,
  flatIndent,
  foldInside,
  foldNodeProp,
  HighlightStyle,
  indentNodeProp,
  LanguageSupport,
  LRLanguage,
  syntaxHighlighting,
} from '@codemirror/language';
import { StateEffect } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { DefaultBufferLength, IterMode, NodeProp, NodeSet, NodeType, Parser, Tree } from '@lezer/common';
import { styleTags, tags } from '@lezer/highlight';
import { library } from './load.ts';

/** What @codemirror/lang-cpp, @lezer/cpp and @lezer/lr import. */
const SHARED = {
  ...{ continuedIndent, delimitedIndent, flatIndent, foldInside, foldNodeProp, indentNodeProp },
  ...{ LRLanguage, LanguageSupport, styleTags, tags },
  ...{ DefaultBufferLength, IterMode, NodeProp, NodeSet, NodeType, Parser, Tree },
};

declare global {
  var kcovboxShared: typeof SHARED | undefined;
}

const highlight = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--comment)' },
  { tag: [tags.keyword, tags.typeName, tags.modifier], color: 'var(--keyword)' },
  { tag: tags.string, color: 'var(--string)' },
  { tag: tags.number, color: 'var(--number)' },
  { tag: tags.processingInstruction, color: 'var(--keyword)' },
]);

/** Colours of C, by the colour scheme. */
export const colours = syntaxHighlighting(highlight);

/** When the grammar is there. Without a connection a text has no colours. */
export function addLanguage(view: EditorView): void {
  globalThis.kcovboxShared = SHARED;
  void library<typeof import('@codemirror/lang-cpp')>('cpp').then(
    ({ cpp }) => view.dispatch({ effects: StateEffect.appendConfig.of(cpp()) }),
    () => {},
  );
}
