// An answer of the worker that a view shows, and asks for again when its question changes.
import { useEffect, useState } from 'preact/hooks';
import type { Opened, RequestName, Requests } from '../protocol.ts';
import type { Client } from './client.ts';

/** Undefined until it is there. A question that fails has the answer `otherwise`. */
export function useAnswer<N extends RequestName>(
  client: Client,
  opened: Opened,
  name: N,
  args: Requests[N][0],
  otherwise: Requests[N][1],
): Requests[N][1] | undefined {
  const [answer, setAnswer] = useState<Requests[N][1]>();
  const question = JSON.stringify(args);
  useEffect(() => {
    let isOld = false;
    setAnswer(undefined);
    void client.ask(name, JSON.parse(question) as Requests[N][0]).then(
      now => isOld || setAnswer(now),
      () => isOld || setAnswer(otherwise),
    );
    return () => {
      isOld = true;
    };
  }, [client, opened, name, question]);
  return answer;
}
