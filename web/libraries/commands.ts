// Keys of an editor, as a script of its own: the page's source view is read only and needs none.
export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
