// C in editors. Its grammar and the keys of an editor are libraries of their own (web/libraries/),
// because the state of a line is seen without them. They use the modules that the page has, and get
// them here.
import {
  continuedIndent,
  delimitedIndent,
  flatIndent,
  foldInside,
  foldNodeProp,
  getIndentation,
  getIndentUnit,
  HighlightStyle,
  IndentContext,
  indentNodeProp,
  indentString,
  indentUnit,
  LanguageSupport,
  LRLanguage,
  matchBrackets,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import {
  Annotation,
  ChangeDesc,
  ChangeSet,
  CharCategory,
  combineConfig,
  countColumn,
  EditorSelection,
  type Extension,
  Facet,
  findClusterBreak,
  StateEffect,
  StateField,
  Text,
  Transaction,
} from '@codemirror/state';
import { Direction, EditorView, keymap } from '@codemirror/view';
import { DefaultBufferLength, IterMode, NodeProp, NodeSet, NodeType, Parser, Tree } from '@lezer/common';
import { styleTags, tags } from '@lezer/highlight';
import type { Library } from '../protocol.ts';
import { library } from './load.ts';

/** What @codemirror/lang-cpp, @lezer/cpp and @lezer/lr import. */
const SHARED = {
  ...{ continuedIndent, delimitedIndent, flatIndent, foldInside, foldNodeProp, indentNodeProp },
  ...{ LRLanguage, LanguageSupport, styleTags, tags },
  ...{ DefaultBufferLength, IterMode, NodeProp, NodeSet, NodeType, Parser, Tree },
  // And @codemirror/commands.
  ...{ Annotation, ChangeDesc, ChangeSet, CharCategory, combineConfig, countColumn, EditorSelection },
  ...{ Facet, findClusterBreak, StateEffect, StateField, Text, Transaction, Direction, EditorView },
  ...{ getIndentation, getIndentUnit, IndentContext, indentString, indentUnit, matchBrackets },
  syntaxTree,
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

/** When the library is there. Without a connection a text has no colours. */
function extend<T>(view: EditorView, name: Library, extension: (library: T) => Extension): void {
  globalThis.kcovboxShared = SHARED;
  void library<T>(name).then(
    found => view.dispatch({ effects: StateEffect.appendConfig.of(extension(found)) }),
    () => {},
  );
}

export const addLanguage = (view: EditorView): void =>
  extend<typeof import('@codemirror/lang-cpp')>(view, 'cpp', ({ cpp }) => cpp());

/** Until then, and without a connection, an editor has the browser's own keys. */
export const addKeys = (view: EditorView): void =>
  extend<typeof import('@codemirror/commands')>(
    view,
    'commands',
    ({ defaultKeymap, history, historyKeymap, indentWithTab }) => [
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
    ],
  );
