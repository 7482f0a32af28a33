// The grammar of C, as a script of its own: it is loaded behind the first line.
export { cpp } from '@codemirror/lang-cpp';
