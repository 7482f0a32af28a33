// A file of the lab: the student's are written, the lab's own are read.
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { cEditor } from '../views/c-editor.ts';

export function Editor({
  name,
  text,
  onText,
}: {
  readonly name: string;
  /** At the beginning. */
  readonly text: string;
  /** Undefined: it is read only. */
  readonly onText: ((text: string) => void) | undefined;
}) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => {
    const changes = EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) latest.current?.(state.doc.toString());
    });
    const more = onText ? changes : EditorState.readOnly.of(true);
    const view = cEditor(place.current!, text, name, [], more);
    return () => view.destroy();
  }, []);
  return <div class="lab-editor" ref={place} />;
}
